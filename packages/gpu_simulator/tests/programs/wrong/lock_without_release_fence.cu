// The lock is given back without a fence, so the next owner may find it free and still see the old number.
// launch: --grid 4 --block 1 --arg i32:1 --arg i32:1
// hazard: race, "no fence between the access and that write"
__global__ void kernel(int* lock, int* number) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *number += blockIdx.x + 1;  // here
    atomicExch(lock, 0);
}
