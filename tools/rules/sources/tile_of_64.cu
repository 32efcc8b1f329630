// A group of 64 threads of cooperative groups: its sums, its barrier, and the block's own array beside them.
// launch: 1 block of 128 threads
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "config.cuh"
namespace cg = cooperative_groups;

extern "C" __global__ void kernel(uint32_t* out) {
  __shared__ cg::block_tile_memory<128> scratch;
  __shared__ uint32_t own[128];
  auto block = cg::this_thread_block(scratch);
  auto tile = cg::tiled_partition<64>(block);
  own[threadIdx.x] = 1000 + threadIdx.x;
  tile.sync();
  const uint32_t other = own[threadIdx.x ^ 32];
  const uint32_t sum = cg::reduce(tile, uint32_t(threadIdx.x), cg::plus<uint32_t>());
  block.sync();
  out[threadIdx.x] = sum;
  out[128 + threadIdx.x] = other;
  out[256 + threadIdx.x] = own[threadIdx.x];
}
