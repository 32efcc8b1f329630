// The barrier stands in a branch, but the condition is the same for the whole block.
// launch: --grid 2 --block 64 --arg i32:128
// result: arg 0 = np.concatenate([np.arange(64)[::-1], np.arange(64)])
__global__ void kernel(int* out) {
    __shared__ int s[64];
    int t = threadIdx.x, value = t;
    if (blockIdx.x == 0) {
        s[t] = t;
        __syncthreads();
        value = s[63 - t];
    }
    out[blockIdx.x * 64 + t] = value;
}
