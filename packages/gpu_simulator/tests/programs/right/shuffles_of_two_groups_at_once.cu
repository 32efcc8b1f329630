// Both halves of the warp execute the same shuffle, each with the mask of its half.
// launch: --block 32 --arg i32:32:arange --arg i32:32
// result: arg 1 = np.repeat([15, 31], 16)
__global__ void kernel(const int* in, int* out) {
    unsigned mask = threadIdx.x < 16 ? 0x0000ffffu : 0xffff0000u;
    int source = threadIdx.x < 16 ? 15 : 31;
    out[threadIdx.x] = __shfl_sync(mask, in[threadIdx.x], source);
}
