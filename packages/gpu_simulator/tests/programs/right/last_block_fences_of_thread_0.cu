// Each block writes its part, and the block that takes the last ticket adds all parts. One thread fences for its block.
// launch: --grid 4 --block 64 --arg i32:256:arange --arg i32:256 --arg u32:1 --arg i32:64
// result: arg 3 = 2 * args[0].reshape(4, 64).sum(axis=0)
__global__ void kernel(const int* in, int* part, unsigned* tickets, int* sum) {
    __shared__ bool last;
    part[blockIdx.x * 64 + threadIdx.x] = 2 * in[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    int total = 0;
    for (int b = 0; b < 4; b++) total += part[b * 64 + threadIdx.x];
    sum[threadIdx.x] = total;
}
