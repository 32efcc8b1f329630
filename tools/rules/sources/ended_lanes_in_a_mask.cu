// A mask that names lanes which have ended: the others do not wait for them, and they do not vote.
// launch: 1 block of 32 threads
#include "config.cuh"

extern "C" __global__ void kernel(uint32_t* out) {
  const uint32_t lane = threadIdx.x;
  if (lane >= 20) return;
  out[lane] = __ballot_sync(0xffffffff, lane & 1);
  out[32 + lane] = __all_sync(0xffffffff, lane < 20);
  out[64 + lane] = __match_any_sync(0xffffffff, lane / 8);
  out[96 + lane] = __reduce_add_sync(0xffffffff, 1u);
}
