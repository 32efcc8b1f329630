// Thread 0 does not wait for the other warps of its block before it takes the ticket, so their stores may be late.
// launch: --grid 4 --block 64 --arg i32:256 --arg u32:1 --arg i32:64
// hazard: race, "have to meet at __syncthreads()"
__global__ void kernel(int* part, unsigned* tickets, int* sum) {
    __shared__ bool last;
    part[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;  // here
    __threadfence();
    if (threadIdx.x == 0) last = atomicAdd(tickets, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    int total = 0;
    for (int b = 0; b < 4; b++) total += part[b * 64 + threadIdx.x];  // here
    sum[threadIdx.x] = total;
}
