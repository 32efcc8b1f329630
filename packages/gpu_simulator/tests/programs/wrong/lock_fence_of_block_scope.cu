// The lock is right, but both fences are of block scope, and the next owner is in another block.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1
// hazard: race, "__threadfence()"
__global__ void kernel(int* lock, int* number) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence_block();
    *number += 1;  // here
    __threadfence_block();
    atomicExch(lock, 0);
}
