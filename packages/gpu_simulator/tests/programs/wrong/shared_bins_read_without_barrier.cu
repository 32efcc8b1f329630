// The bins are read before the other warp has counted.
// launch: --block 64 --arg i32:64:arange --arg i32:8
// hazard: race, "no barrier"
__global__ void kernel(const int* in, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[threadIdx.x] % 8], 1);  // here
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];  // here
}
