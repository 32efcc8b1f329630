template <int C> __device__ __forceinline__ int turned(int row, int chunk) {
  if constexpr (C == 8) return chunk ^ (row & 7);
  else return (chunk + row / (8 / C)) % C;
}
__device__ __forceinline__ int chunk_a(int row, int chunk) { return row * (BLOCK_K / 8) + turned<BLOCK_K / 8>(row, chunk); }
__device__ __forceinline__ int chunk_b(int row, int chunk) { return row * (BLOCK_N / 8) + (chunk & ~7 | turned<8>(row, chunk & 7)); }
