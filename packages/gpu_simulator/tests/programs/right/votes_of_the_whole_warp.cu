// any and all, asked by all lanes, before the branch.
// launch: --block 64 --arg i32:64:arange --arg i32:2
// result: arg 1 = [1, 2]
__global__ void kernel(const int* in, int* out) {
    bool big = in[threadIdx.x] >= 31;
    int any = __any_sync(0xffffffff, big), all = __all_sync(0xffffffff, big);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = any + all;
}
