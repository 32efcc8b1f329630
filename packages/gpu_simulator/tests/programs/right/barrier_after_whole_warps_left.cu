// Warps that have nothing to do return before the barrier; a thread that has ended is not waited for.
// launch: --block 128 --arg i32:64
// result: arg 0 = np.arange(64)[::-1]
__global__ void kernel(int* out) {
    __shared__ int s[64];
    if (threadIdx.x >= 64) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
