// A shuffle that reads from a lane which its mask does not name and which executes something else meanwhile.
// launch: 1 block of 32 threads
// simulator: hazard, does not execute this shuffle
#include "config.cuh"

extern "C" __global__ void kernel(uint32_t* out) {
  const uint32_t lane = threadIdx.x, value = 100 + lane;
  if (lane < 16) {
    out[lane] = __shfl_sync(0x0000ffff, value, lane + 16);
  } else {
    out[lane] = __shfl_sync(0xffff0000, value, lane - 15 < 16 ? 31 : lane);
  }
}
