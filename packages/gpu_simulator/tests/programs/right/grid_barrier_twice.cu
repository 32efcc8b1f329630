// The counter only grows: the second barrier waits for twice as many arrivals.
// launch: --grid 2 --block 32 --arg u32:1 --arg i32:64 --arg i32:64
// result: arg 1 = 10 + np.arange(64)
__device__ void meet(unsigned* arrived, unsigned target) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < target) {}
        __threadfence();
    }
    __syncthreads();
}
__global__ void kernel(unsigned* arrived, int* part, int* out) {
    int i = blockIdx.x * 32 + threadIdx.x;
    part[i] = i;
    meet(arrived, gridDim.x);
    out[i] = part[63 - i];
    meet(arrived, 2 * gridDim.x);
    part[i] += 10;
}
