// An epilogue that needs no shared memory: four lanes exchange their results, and each stores 16 bytes of one mma tile.
#pragma once
#include "tile/bf16_pair.cuh"

// Lane q of four holds words[j], part q of tile j; afterwards it holds part j of tile q in words[j]. A transpose in two
// steps: 2x2 blocks, then the elements within them.
__device__ __forceinline__ void quad_transpose(uint32_t (&words)[4]) {
  const int q = threadIdx.x % 4;
  #pragma unroll
  for (int step = 2; step >= 1; step /= 2)
    #pragma unroll
    for (int i = 0; i < 2; i++) {
      const int low = step == 2 ? i : 2 * i, high = low + step;
      const uint32_t received = __shfl_xor_sync(0xffffffff, q & step ? words[low] : words[high], step);
      if (q & step) words[low] = received;
      else words[high] = received;
    }
}

// D = acc in BF16. One warp's FP32 accumulators of m16n8k16; d points to the warp's corner, a row of D is `stride` long.
template <int WARP_N, int TILES_M>
__device__ __forceinline__ void store_through_quads(const float (&acc)[TILES_M][WARP_N / 8][4], __nv_bfloat16* d,
                                                    int stride) {
  static_assert(WARP_N % 32 == 0, "WARP_N must be a multiple of 32: four lanes exchange four mma tiles");
  const int lane = threadIdx.x % 32;
  #pragma unroll
  for (int mi = 0; mi < TILES_M; mi++)
    #pragma unroll
    for (int r = 0; r < 2; r++)                               // values 0, 1: row lane/4; values 2, 3: eight rows below
      #pragma unroll
      for (int ni = 0; ni < WARP_N / 8; ni += 4) {
        uint32_t words[4];
        #pragma unroll
        for (int j = 0; j < 4; j++) words[j] = bf16_pair(acc[mi][ni + j][r * 2], acc[mi][ni + j][r * 2 + 1]);
        quad_transpose(words);
        __nv_bfloat16* const at = d + static_cast<size_t>(mi * 16 + r * 8 + lane / 4) * stride + (ni + lane % 4) * 8;
        *reinterpret_cast<uint4*>(at) = make_uint4(words[0], words[1], words[2], words[3]);
      }
}
