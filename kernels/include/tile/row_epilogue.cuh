// What tcgen05.ld gives a thread, neighbouring values of one row of D, in BF16 and 16 bytes at a time.
#pragma once
#include <cuda_bf16.h>
#include "config.cuh"

// Values 8 · chunk to 8 · chunk + 7, rounded to nearest even.
template <int VALUES>
__device__ __forceinline__ uint4 bf16_chunk(const float (&acc)[VALUES], int chunk) {
  uint4 words;
  #pragma unroll
  for (int i = 0; i < 4; i++) {
    const int value = chunk * 8 + i * 2;
    reinterpret_cast<__nv_bfloat162*>(&words)[i] = __floats2bfloat162_rn(acc[value], acc[value + 1]);
  }
  return words;
}

// Stores them at `d`, which is a multiple of 16 bytes.
template <int VALUES>
__device__ __forceinline__ void store_row(const float (&acc)[VALUES], __nv_bfloat16* d) {
  #pragma unroll
  for (int chunk = 0; chunk < VALUES / 8; chunk++) reinterpret_cast<uint4*>(d)[chunk] = bf16_chunk(acc, chunk);
}
