// The ticket itself releases and acquires at the scope of the GPU, so no fence is needed.
// launch: --grid 5 --block 64 --arg i32:320 --arg u32:1 --arg i32:64
// result: arg 2 = 5 * np.arange(64) + 10
__global__ void kernel(int* part, unsigned* tickets, int* sum) {
    __shared__ unsigned ticket;
    part[blockIdx.x * 64 + threadIdx.x] = threadIdx.x + blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned old;
        asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(old) : "l"(tickets) : "memory");
        ticket = old;
    }
    __syncthreads();
    if (ticket != gridDim.x - 1) return;
    int total = 0;
    for (int b = 0; b < gridDim.x; b++) total += part[b * 64 + threadIdx.x];
    sum[threadIdx.x] = total;
}
