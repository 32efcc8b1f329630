// Thread 0 takes the lock for its block; barriers stand between the lock, the work of all threads, and the unlock.
// launch: --grid 2 --block 64 --arg i32:1 --arg i32:64
// result: arg 1 = np.full(64, 2)
__global__ void kernel(int* lock, int* numbers) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
    }
    __syncthreads();
    numbers[63 - threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}
