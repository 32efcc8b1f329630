// The first warp clears the bins and waits for itself only, so the other warp may count before that.
// launch: --block 64 --arg i32:64:arange --arg i32:8
// hazard: race, "no barrier"
__global__ void kernel(const int* in, int* out) {
    __shared__ int bins[8];
    if (threadIdx.x < 8) bins[threadIdx.x] = 0;  // here
    __syncwarp();
    atomicAdd(&bins[in[threadIdx.x] % 8], 1);  // here
    __syncthreads();
    if (threadIdx.x < 8) out[threadIdx.x] = bins[threadIdx.x];
}
