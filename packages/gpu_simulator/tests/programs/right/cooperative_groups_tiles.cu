// Tiles of 8 threads exchange values in shared memory and with shuffles, each tile for itself.
// launch: --block 64 --arg i32:64
// result: arg 0 = np.repeat(np.arange(64).reshape(8, 8).sum(axis=1), 8)
#include <cooperative_groups.h>
__global__ void kernel(int* out) {
    __shared__ int s[64];
    auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    s[threadIdx.x] = threadIdx.x;
    tile.sync();
    int sum = s[threadIdx.x ^ 7];
    for (int step = 4; step > 0; step /= 2) sum += tile.shfl_xor(sum, step);
    out[threadIdx.x] = sum;
}
