// __syncthreads_and tells everybody whether all have found their place.
// launch: --block 64 --arg i32:64:arange --arg i32:1
// result: arg 1 = [1]
__global__ void kernel(const int* in, int* out) {
    __shared__ int s[64];
    s[63 - threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    bool sorted = threadIdx.x == 0 || s[threadIdx.x - 1] > s[threadIdx.x];
    int all = __syncthreads_and(sorted);
    if (threadIdx.x == 0) *out = all;
}
