// Half of each warp waits at a barrier that the other half passes by: undefined, since both halves are still running.
// launch: --block 64 --arg i32:64
// hazard: error, "barrier"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x % 32 < 16) {
        s[threadIdx.x]++;
        __syncthreads();  // here
    }
    out[threadIdx.x] = s[threadIdx.x];
}
