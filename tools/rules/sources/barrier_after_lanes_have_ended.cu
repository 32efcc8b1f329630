// __syncthreads() after half of a warp has ended.
// launch: 1 block of 64 threads
#include "config.cuh"

extern "C" __global__ void kernel(uint32_t* out) {
  __shared__ uint32_t own[64];
  own[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= 48) return;
  __syncthreads();
  out[threadIdx.x] = own[47 - threadIdx.x];
}
