// A scan with __shfl_up_sync; lanes without a left neighbour keep their value.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// result: arg 1 = np.cumsum(args[0])
__global__ void kernel(const int* in, int* out) {
    int lane = threadIdx.x, sum = in[lane];
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(0xffffffff, sum, step);
        if (lane >= step) sum += left;
    }
    out[lane] = sum;
}
