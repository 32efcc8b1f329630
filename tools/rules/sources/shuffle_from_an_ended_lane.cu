// A shuffle that reads from a lane which has ended. PTX does not define the value.
// launch: 1 block of 32 threads
// simulator: hazard, has ended
#include "config.cuh"

extern "C" __global__ void kernel(uint32_t* out) {
  const uint32_t lane = threadIdx.x, value = 100 + lane;
  if (lane >= 16) return;
  out[lane] = __shfl_sync(0xffffffff, value, lane + 16);
}
