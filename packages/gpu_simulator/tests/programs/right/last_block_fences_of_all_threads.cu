// As the textbook has it: every thread fences its own store, and every thread fences again before it reads.
// launch: --grid 4 --block 64 --arg i32:256:arange --arg i32:256 --arg u32:1 --arg i32:64
// result: arg 3 = args[0].reshape(4, 64).sum(axis=0)
__global__ void kernel(const int* in, int* part, unsigned* tickets, int* sum) {
    __shared__ bool last;
    part[blockIdx.x * 64 + threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(tickets, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += part[b * 64 + threadIdx.x];
        sum[threadIdx.x] = total;
    }
}
