// The tile synchronises 32 threads, but the exchange goes through the whole block.
// launch: --block 64 --arg i32:64
// hazard: race, "no barrier"
#include <cooperative_groups.h>
__global__ void kernel(int* out) {
    __shared__ int s[64];
    auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    s[threadIdx.x] = threadIdx.x;  // here
    tile.sync();
    out[threadIdx.x] = s[63 - threadIdx.x];  // here
}
