// Where 16-byte chunk (row, chunk) of a tile lies in shared memory, counted in chunks.
constexpr int CHUNKS = BLOCK_K / 8;      // 8 / CHUNKS rows of A share the 128 bytes of the 32 banks
__device__ __forceinline__ int chunk_a(int row, int chunk) {
  chunk ^= row * CHUNKS / 8 % CHUNKS;
  return row * CHUNKS + chunk;
}
__device__ __forceinline__ int chunk_b(int row, int chunk) {
  chunk ^= row % 8;
  return row * (BLOCK_N / 8) + chunk;
}
