// Whole warps that meet at two different bar.sync 0 of one block.
// launch: 1 block of 64 threads
// simulator: hazard, met at different __syncthreads
#include "config.cuh"

extern "C" __global__ void kernel(uint32_t* out) {
  __shared__ uint32_t own[64];
  own[threadIdx.x] = threadIdx.x;
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 0;" ::: "memory");
    out[threadIdx.x] = own[63 - threadIdx.x];
  } else {
    asm volatile("bar.sync 0;" ::: "memory");
    out[threadIdx.x] = 1000 + own[63 - threadIdx.x];
  }
}
