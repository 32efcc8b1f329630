// A ballot before the branch gives the mask of those who enter it, and only they shuffle.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// result: arg 1 = np.where(np.arange(32) < 20, 19, 0)
__global__ void kernel(const int* in, int* out) {
    bool enters = in[threadIdx.x] < 20;
    unsigned mask = __ballot_sync(0xffffffff, enters);
    if (enters) out[threadIdx.x] = __shfl_sync(mask, in[threadIdx.x], 31 - __clz(mask));
}
