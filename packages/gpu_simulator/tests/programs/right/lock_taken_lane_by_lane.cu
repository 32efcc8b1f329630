// Each lane of a warp takes the lock once. The lane that wins works inside the loop, so it can unlock for the others.
// launch: --grid 2 --block 32 --arg i32:1 --arg i32:1
// result: arg 1 = [64]
__global__ void kernel(int* lock, int* number) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *number += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
