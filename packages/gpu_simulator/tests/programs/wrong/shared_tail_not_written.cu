// The guard keeps the last elements from being loaded, but all of them are read.
// launch: --block 64 --arg i32:50:arange --arg i32:64 --arg 50
// hazard: error, "nothing has written"
__global__ void kernel(const int* in, int* out, int n) {
    __shared__ int s[64];
    if (threadIdx.x < n) s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];  // here
}
