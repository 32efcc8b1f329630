// The epilogue of t4/07_staged_epilogue for BF16 results of FP32 accumulators, without C: D leaves in whole rows.
#pragma once
#include <cuda_bf16.h>

// D = acc in BF16. One warp's FP32 accumulators of m16n8k16. With EDGES only `rows` and `cols` of them lie inside D, and
// rows of D whose length is no multiple of 8 begin between the 16-byte boundaries: there it stores value by value.
template <int WARP_N, bool EDGES = false, int TILES_M>
__device__ __forceinline__ void store_through_shared(float (&acc)[TILES_M][WARP_N / 8][4], uint4* staged,
                                                     __nv_bfloat16* d, int stride, int rows = 0, int cols = 0) {
  static_assert(WARP_N % 64 == 0, "WARP_N must be a multiple of 64: the XOR moves a chunk of D among 8");
  const int lane = threadIdx.x % 32;
  #pragma unroll
  for (int mi = 0; mi < TILES_M; mi++) {
    #pragma unroll
    for (int ni = 0; ni < WARP_N / 8; ni++)
      #pragma unroll
      for (int r = 0; r < 2; r++) {                           // values 0, 1: row lane/4; values 2, 3: eight rows below
        uint4& chunk = staged[(lane / 4 + r * 8) * (WARP_N / 8) + (ni ^ lane / 4)];
        reinterpret_cast<__nv_bfloat162*>(&chunk)[lane % 4] =
            __floats2bfloat162_rn(acc[mi][ni][r * 2], acc[mi][ni][r * 2 + 1]);
      }
    __syncwarp();                                             // the rows are complete
    #pragma unroll
    for (int i = 0; i < WARP_N / 16; i++) {
      const int row = (i * 32 + lane) / (WARP_N / 8), chunk = (i * 32 + lane) % (WARP_N / 8);
      if (EDGES && (mi * 16 + row >= rows || chunk * 8 >= cols)) continue;
      const uint4 values = staged[row * (WARP_N / 8) + (chunk ^ row % 8)];
      __nv_bfloat16* const at = d + static_cast<size_t>(mi * 16 + row) * stride + chunk * 8;
      if (!EDGES || stride % 8 == 0)
        *reinterpret_cast<uint4*>(at) = values;
      else
        for (int j = 0; j < min(8, cols - chunk * 8); j++) at[j] = reinterpret_cast<const __nv_bfloat16*>(&values)[j];
    }
    __syncwarp();                                             // all is read before the next 16 rows
  }
}
