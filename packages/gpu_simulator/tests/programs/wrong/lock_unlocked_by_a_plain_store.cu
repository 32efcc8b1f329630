// The lock is given back by a plain store, which races with the atomicCAS of the others and releases nothing.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1
// hazard: race, "nothing orders the two blocks"
__global__ void kernel(int* lock, int* number) {
    while (atomicCAS(lock, 0, 1) != 0) {}  // here
    __threadfence();
    *number += 1;
    __threadfence();
    *lock = 0;  // here
}
