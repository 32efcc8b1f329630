// A scan in one buffer: a barrier between the loads and the stores of a step, and one after it.
// launch: --block 64 --arg i32:64:arange --arg i32:64
// result: arg 1 = np.cumsum(args[0])
__global__ void kernel(const int* in, int* out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int left = t >= step ? s[t - step] : 0;
        __syncthreads();
        s[t] += left;
        __syncthreads();
    }
    out[t] = s[t];
}
