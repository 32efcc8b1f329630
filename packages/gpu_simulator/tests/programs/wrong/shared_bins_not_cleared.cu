// Shared memory does not begin at zero, so the bins count from an unknown number.
// launch: --block 64 --arg i32:64:arange --arg i32:8
// hazard: error, "nothing has written"
__global__ void kernel(const int* in, int* out) {
    __shared__ int bins[8];
    atomicAdd(&bins[in[threadIdx.x] % 8], 1);  // here
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
