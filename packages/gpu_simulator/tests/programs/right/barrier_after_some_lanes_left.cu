// Some lanes of the last warp return before the barrier. Since Volta it waits for the threads that are still there.
// launch: --block 64 --arg i32:40
// result: arg 0 = np.arange(40)[::-1]
__global__ void kernel(int* out) {
    __shared__ int s[40];
    if (threadIdx.x >= 40) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[39 - threadIdx.x];
}
