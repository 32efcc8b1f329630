// What tcgen05.ld gives a thread, neighbouring values of one row of D, in BF16 and 16 bytes at a time.
#pragma once
#include "config.cuh"
#include "tile/bf16_pair.cuh"

// Values 8 · chunk to 8 · chunk + 7, rounded to nearest even.
template <int VALUES>
__device__ __forceinline__ uint4 bf16_chunk(const float (&acc)[VALUES], int chunk) {
  const float* const from = acc + chunk * 8;
  return make_uint4(bf16_pair(from[0], from[1]), bf16_pair(from[2], from[3]), bf16_pair(from[4], from[5]),
                    bf16_pair(from[6], from[7]));
}

// Stores them at `d`, which is a multiple of 16 bytes.
template <int VALUES>
__device__ __forceinline__ void store_row(const float (&acc)[VALUES], __nv_bfloat16* d) {
  #pragma unroll
  for (int chunk = 0; chunk < VALUES / 8; chunk++) reinterpret_cast<uint4*>(d)[chunk] = bf16_chunk(acc, chunk);
}
