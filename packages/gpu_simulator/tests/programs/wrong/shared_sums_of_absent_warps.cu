// The first warp adds 32 sums, but the block has three warps only: the other sums were never written.
// launch: --block 96 --arg i32:96:arange --arg i32:1
// hazard: error, "nothing has written"
__global__ void kernel(const int* in, int* out) {
    __shared__ int sums[32];
    int t = threadIdx.x, sum = __reduce_add_sync(~0u, in[t]);
    if (t % 32 == 0) sums[t / 32] = sum;
    __syncthreads();
    if (t >= 32) return;
    int total = __reduce_add_sync(~0u, sums[t]);  // here
    if (t == 0) *out = total;
}
