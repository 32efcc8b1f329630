// Where 16-byte chunk (row, chunk) of a tile lies, in bytes: the 128-byte swizzle that the descriptors name.
__device__ __forceinline__ int bytes_at(int row, int chunk) {
  chunk ^= row % 8;
  return row * BLOCK_K * 2 + 16 * chunk;
}
