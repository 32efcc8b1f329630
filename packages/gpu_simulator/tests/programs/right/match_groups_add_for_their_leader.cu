// Lanes with the same key find each other with match, add up, and the lowest of them updates the bin.
// launch: --block 32 --arg i32:32:arange --arg i32:4
// result: arg 1 = [112, 120, 128, 136]
__global__ void kernel(const int* in, int* bins) {
    int lane = threadIdx.x, key = in[lane] % 4;
    unsigned group = __match_any_sync(0xffffffff, key);
    int sum = __reduce_add_sync(group, in[lane]);
    if (lane == __ffs(group) - 1) atomicAdd(&bins[key], sum);
}
