// Each warp leaves its sum in shared memory, and the first warp reads as many sums as there are warps.
// launch: --block 96 --arg i32:96:arange --arg i32:1
// result: arg 1 = [4560]
__global__ void kernel(const int* in, int* out) {
    __shared__ int sums[32];
    int t = threadIdx.x, warps = blockDim.x / 32, sum = __reduce_add_sync(~0u, in[t]);
    if (t % 32 == 0) sums[t / 32] = sum;
    __syncthreads();
    if (t >= 32) return;
    int total = __reduce_add_sync(~0u, t < warps ? sums[t] : 0);
    if (t == 0) *out = total;
}
