// Stamps: when a warp passes a place, by the clock of its SM and by the global timer, written to a buffer.
// No rung includes this: gemm_lab.measure.stamps puts it into a copy of a kernel, whose calls it wraps.
// PTX ISA, "Special Registers": %clock64, %globaltimer, %smid.
#pragma once
#include "config.cuh"

struct alignas(32) Stamp { uint64_t clock, nanoseconds; uint32_t what, barrier, sm, set; };

class Stamps {
  Stamp* mine;                                                // [a_warp]: of this warp's lane 0, or of its others
  uint32_t count = 0, a_warp;

 public:
  __device__ __forceinline__ Stamps(void* buffer, int stamps_a_warp) : a_warp(stamps_a_warp) {
    const uint32_t block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const uint32_t warp = block * (blockDim.x / 32) + threadIdx.x / 32;
    mine = static_cast<Stamp*>(buffer) + (warp * 2 + (threadIdx.x % 32 > 0)) * a_warp;
  }

  // The lowest thread that takes part writes for those with it; when its part of the buffer is full, no more.
  __device__ __forceinline__ void operator()(uint32_t what, uint32_t barrier) {
    uint64_t clock, nanoseconds;
    uint32_t sm;
    asm volatile("mov.u64 %0, %%clock64;\n\tmov.u64 %1, %%globaltimer;\n\tmov.u32 %2, %%smid;"
                 : "=l"(clock), "=l"(nanoseconds), "=r"(sm) :: "memory");
    if (threadIdx.x % 32 == __ffs(__activemask()) - 1 && count < a_warp)
      mine[count] = Stamp{clock, nanoseconds, what, barrier, sm, 1};
    count++;
  }
};
