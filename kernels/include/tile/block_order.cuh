// The block order of ampere/08_block_order, for the rungs that come after it.
#pragma once

// So many tiles that nothing is left over.
__device__ __forceinline__ int cdiv(int extent, int tile) { return (extent + tile - 1) / tile; }

struct Tile {
  int m, n;                                                   // counted in tiles of D
};

// Tile number `index` of tiles_m x tiles_n: bands of `group_m` rows of tiles, and down each short column within a band.
// packages/gemm_lab_lessons/ch10/block_order.py draws and counts the same order.
__device__ __forceinline__ Tile grouped_block_order(int index, int tiles_m, int tiles_n, int group_m) {
  const int band = index / (group_m * tiles_n) * group_m, within = index % (group_m * tiles_n);
  const int rows = min(group_m, tiles_m - band);              // the last band may be lower
  return {band + within % rows, within / rows};
}
