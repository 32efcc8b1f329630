// Block 1 reads the number without taking the lock.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* lock, int* number, int* out) {
    if (blockIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        *number += 1;  // here
        __threadfence();
        atomicExch(lock, 0);
    } else {
        *out = *number;  // here
    }
}
