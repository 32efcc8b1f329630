// A fence and a volatile store of 0 release the lock as well as an atomic does.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1
// result: arg 1 = [2]
__global__ void kernel(int* lock, int* number) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *number += 1;
    __threadfence();
    *(volatile int*)lock = 0;
}
