// A block adds to its sum in global memory; after a barrier each thread reads it.
// launch: --grid 2 --block 64 --arg i32:2 --arg i32:128
// result: arg 1 = np.full(128, 64)
__global__ void kernel(int* sums, int* out) {
    atomicAdd(&sums[blockIdx.x], 1);
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = sums[blockIdx.x];
}
