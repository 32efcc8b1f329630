// The epilogue of t4/07_staged_epilogue, for the rungs that come after it: D = alpha · acc + beta · C in whole rows.
#pragma once
#include <cuda_fp16.h>

// One warp's FP16 accumulators of m16n8k8, TILES_M x WARP_N/8 tiles, pass through `staged` (16 rows of WARP_N halves, this
// warp's own, swizzled) sixteen rows at a time. c and d point to the warp's corner; a row of them is `stride` elements.
template <int WARP_N, int TILES_M>
__device__ __forceinline__ void store_through_shared(uint32_t (&acc)[TILES_M][WARP_N / 8][2], uint4* staged, const half* c,
                                                     half* d, size_t stride, float alpha, float beta) {
  const int lane = threadIdx.x % 32;
  #pragma unroll
  for (int mi = 0; mi < TILES_M; mi++) {
    #pragma unroll
    for (int ni = 0; ni < WARP_N / 8; ni++)
      #pragma unroll
      for (int r = 0; r < 2; r++) {                           // row lane/4, then eight rows below
        uint4& chunk = staged[(lane / 4 + r * 8) * (WARP_N / 8) + (ni ^ lane / 4)];
        reinterpret_cast<uint32_t*>(&chunk)[lane % 4] = acc[mi][ni][r];
      }
    __syncwarp();                                             // the rows are complete
    #pragma unroll
    for (int i = 0; i < WARP_N / 16; i++) {
      const int row = (i * 32 + lane) / (WARP_N / 8), chunk = (i * 32 + lane) % (WARP_N / 8);
      const size_t at = (mi * 16 + row) * stride + chunk * 8;
      uint4 sum = staged[row * (WARP_N / 8) + (chunk ^ row % 8)];
      const uint4 old = *reinterpret_cast<const uint4*>(&c[at]);
      #pragma unroll
      for (int j = 0; j < 4; j++) {
        half2& s = reinterpret_cast<half2*>(&sum)[j];
        const float2 x = __half22float2(s), y = __half22float2(reinterpret_cast<const half2*>(&old)[j]);
        s = __floats2half2_rn(alpha * x.x + beta * y.x, alpha * x.y + beta * y.y);
      }
      *reinterpret_cast<uint4*>(&d[at]) = sum;
    }
    __syncwarp();                                             // all is read before the next 16 rows
  }
}
