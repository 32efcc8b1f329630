// There is no fence between the parts and the ticket, so the last block may add a part that has not arrived yet.
// launch: --grid 4 --block 64 --arg i32:256:arange --arg i32:256 --arg u32:1 --arg i32:64
// hazard: race, "no fence between the access and that write"
__global__ void kernel(const int* in, int* part, unsigned* tickets, int* sum) {
    __shared__ bool last;
    part[blockIdx.x * 64 + threadIdx.x] = 2 * in[blockIdx.x * 64 + threadIdx.x];  // here
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(tickets, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    int total = 0;
    for (int b = 0; b < 4; b++) total += part[b * 64 + threadIdx.x];  // here
    sum[threadIdx.x] = total;
}
