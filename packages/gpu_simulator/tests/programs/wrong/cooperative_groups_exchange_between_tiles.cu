// Tiles of 8 synchronise themselves, but the values are exchanged between two tiles of the warp.
// launch: --block 32 --arg i32:32
// hazard: race, "__syncwarp"
#include <cooperative_groups.h>
__global__ void kernel(int* out) {
    __shared__ int s[32];
    auto tile = cooperative_groups::tiled_partition<8>(cooperative_groups::this_thread_block());
    s[threadIdx.x] = threadIdx.x;  // here
    tile.sync();
    out[threadIdx.x] = s[threadIdx.x ^ 8];  // here
}
