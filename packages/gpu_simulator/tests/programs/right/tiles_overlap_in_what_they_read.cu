// Blocks read overlapping tiles and store separate ones.
// launch: --grid 3 --block 32 --arg i32:98:arange --arg i32:96
// result: arg 1 = np.arange(96) + 2
__global__ void kernel(const int* in, int* out) {
    __shared__ int s[34];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = in[i];
    if (t < 2) s[32 + t] = in[i + 32];
    __syncthreads();
    out[i] = s[t + 2];
}
