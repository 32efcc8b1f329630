// this_thread_block().sync() is the barrier of the block.
// launch: --block 64 --arg i32:64
// result: arg 0 = np.arange(64)[::-1]
#include <cooperative_groups.h>
__global__ void kernel(int* out) {
    __shared__ int s[64];
    auto block = cooperative_groups::this_thread_block();
    s[block.thread_rank()] = block.thread_rank();
    block.sync();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
