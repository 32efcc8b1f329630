// FP32 to FP16 or BF16, rounded to nearest even, four at a time: what a 16-byte load brings becomes 8 bytes.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include "config.cuh"

template <int IS_BF16> struct Element;

template <> struct Element<0> {
  using type = half;
  static __device__ __forceinline__ half2 pair(float low, float high) { return __floats2half2_rn(low, high); }
};

template <> struct Element<1> {
  using type = __nv_bfloat16;
  static __device__ __forceinline__ __nv_bfloat162 pair(float low, float high) {
    return __floats2bfloat162_rn(low, high);
  }
};

// The four values in the order in which they lie in memory, as one word: a store of it stays one store.
template <int IS_BF16>
__device__ __forceinline__ uint64_t narrow(const float4& wide) {
  auto low = Element<IS_BF16>::pair(wide.x, wide.y), high = Element<IS_BF16>::pair(wide.z, wide.w);
  return static_cast<uint64_t>(reinterpret_cast<uint32_t&>(high)) << 32 | reinterpret_cast<uint32_t&>(low);
}
