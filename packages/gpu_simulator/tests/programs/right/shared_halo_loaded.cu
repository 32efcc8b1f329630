// A stencil of three points; two threads load the halo as well.
// launch: --grid 2 --block 64 --arg i32:130:arange --arg i32:128
// result: arg 1 = 3 * np.arange(1, 129)
__global__ void kernel(const int* in, int* out) {
    __shared__ int s[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t + 1] = in[i + 1];
    if (t == 0) s[0] = in[i];
    if (t == 63) s[65] = in[i + 2];
    __syncthreads();
    out[i] = s[t] + s[t + 1] + s[t + 2];
}
