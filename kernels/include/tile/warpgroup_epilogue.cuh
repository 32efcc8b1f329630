// D = acc in BF16, straight from the registers of a warpgroup: four lanes exchange results and store 16 bytes each.
#pragma once
#include "tile/quad_epilogue.cuh"

// `acc` holds TILES_M tiles of 64 rows, as wgmma leaves them: 16 rows of each in every warp. d points to the corner of
// the warpgroup's part of D, whose rows are `stride` long.
template <int TILES_M, int COLUMNS>
__device__ __forceinline__ void store_warpgroup(const float (&acc)[TILES_M][COLUMNS][4], __nv_bfloat16* d, int stride) {
  d += static_cast<size_t>(threadIdx.x / 32 % 4 * 16) * stride;
  #pragma unroll
  for (int mi = 0; mi < TILES_M; mi++) {
    const float (&tile)[1][COLUMNS][4] = reinterpret_cast<const float (&)[1][COLUMNS][4]>(acc[mi]);
    store_through_quads<COLUMNS * 8>(tile, d + static_cast<size_t>(mi * 64) * stride, stride);
  }
}
