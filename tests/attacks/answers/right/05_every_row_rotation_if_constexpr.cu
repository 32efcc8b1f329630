
template <int ROW_CHUNKS> __device__ constexpr int place(int row, int chunk) {
  if constexpr (ROW_CHUNKS == 2) return row * 2 + (chunk + (row >> 2)) % 2;
  else if constexpr (ROW_CHUNKS == 4) return row * 4 + (chunk + (row >> 1)) % 4;
  else return row * ROW_CHUNKS + chunk / 8 * 8 + (chunk + row) % 8;
}
__device__ int chunk_a(int row, int chunk) { return place<BLOCK_K / 8>(row, chunk); }
__device__ int chunk_b(int row, int chunk) { return place<BLOCK_N / 8>(row, chunk); }
