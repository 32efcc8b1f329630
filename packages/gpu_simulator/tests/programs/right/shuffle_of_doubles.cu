// 64-bit values are shuffled as two halves, which the compiler does.
// launch: --block 32 --arg f64:32:arange --arg f64:32
// result: arg 1 = np.arange(32)[::-1]
__global__ void kernel(const double* in, double* out) {
    double value = in[threadIdx.x];
    double other = __shfl_xor_sync(0xffffffff, value, 31);
    out[threadIdx.x] = other;
}
