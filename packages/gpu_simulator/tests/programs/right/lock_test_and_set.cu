// Four blocks add to one number under a lock: atomicCAS, fence, the critical section, fence, atomicExch.
// launch: --grid 4 --block 1 --arg i32:1 --arg i32:1
// result: arg 1 = [10]
__global__ void kernel(int* lock, int* number) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *number += blockIdx.x + 1;
    __threadfence();
    atomicExch(lock, 0);
}
