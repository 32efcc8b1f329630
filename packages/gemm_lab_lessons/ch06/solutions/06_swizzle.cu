// Where 16-byte chunk (row, chunk) of a tile lies in shared memory, counted in chunks.
__device__ __forceinline__ int chunk_a(int row, int chunk) {
  chunk ^= row % 8;
  return row * (BLOCK_K / 8) + chunk;
}
__device__ __forceinline__ int chunk_b(int row, int chunk) {
  chunk ^= row % 8;
  return row * (BLOCK_N / 8) + chunk;
}
