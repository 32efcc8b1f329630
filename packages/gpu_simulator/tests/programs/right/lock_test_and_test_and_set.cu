// The lock is watched with volatile loads and taken with atomicCAS only when it looks free.
// launch: --grid 2 --block 1 --arg i32:1 --arg i32:1
// result: arg 1 = [2]
__global__ void kernel(volatile int* lock, int* number) {
    do {
        while (*lock != 0) {}
    } while (atomicCAS((int*)lock, 0, 1) != 0);
    __threadfence();
    *number += 1;
    __threadfence();
    atomicExch((int*)lock, 0);
}
