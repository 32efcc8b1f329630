// Every lane spins on the lock by itself. Since Volta lanes make progress independently, so the winner gets to unlock.
// launch: --block 32 --arch sm_80 --arg i32:1 --arg i32:1
// result: arg 1 = [32]
__global__ void kernel(int* lock, int* number) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *number += 1;
    __threadfence();
    atomicExch(lock, 0);
}
