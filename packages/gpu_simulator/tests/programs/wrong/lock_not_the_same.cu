// Each block takes a lock of its own and both update one number.
// launch: --grid 2 --block 1 --arg i32:2 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* locks, int* number) {
    int* lock = &locks[blockIdx.x];
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *number += 1;  // here
    __threadfence();
    atomicExch(lock, 0);
}
