// Two FP32 results as one register of BF16, rounded to nearest even.
#pragma once
#include <cuda_bf16.h>

__device__ __forceinline__ uint32_t bf16_pair(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return reinterpret_cast<const uint32_t&>(pair);
}
