// Thread 0 unlocks without waiting for the other warp of its block, which may still be at work.
// launch: --grid 2 --block 64 --arg i32:1 --arg i32:64
// hazard: race, "have to meet at __syncthreads()"
__global__ void kernel(int* lock, int* numbers) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
    }
    __syncthreads();
    numbers[threadIdx.x] += 1;  // here
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(lock, 0);
    }
}
