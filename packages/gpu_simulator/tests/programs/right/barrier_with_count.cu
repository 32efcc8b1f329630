// __syncthreads_count gives all threads the same number and orders what stands before it.
// launch: --block 96 --arg i32:96:arange --arg i32:96
// result: arg 1 = 48 + np.arange(96)[::-1]
__global__ void kernel(const int* in, int* out) {
    __shared__ int s[96];
    int value = in[threadIdx.x];
    s[threadIdx.x] = value;
    int odd = __syncthreads_count(value % 2);
    out[threadIdx.x] = odd + s[95 - threadIdx.x];
}
