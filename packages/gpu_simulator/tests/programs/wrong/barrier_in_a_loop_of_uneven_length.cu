// Warp 1 runs the loop once more than warp 0, so its last barrier meets the barrier that stands behind the loop.
// launch: --block 64 --arg i32:64
// hazard: suspicious, "different __syncthreads()"
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, warp = t / 32;
    for (int i = 0; i < 1 + warp; i++) {
        s[t] = i;
        __syncthreads();  // here
    }
    __syncthreads();  // here
    out[t] = s[t];
}
