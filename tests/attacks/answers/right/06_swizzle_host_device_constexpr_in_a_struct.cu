struct Place {
  int row;
  __host__ __device__ constexpr int of(int chunk) const { return (row % 8) ^ chunk; }
};
__device__ __forceinline__ int chunk_a(int row, int chunk) { return row * (BLOCK_K / 8) + Place{row}.of(chunk); }
__device__ __forceinline__ int chunk_b(int row, int chunk) { return row * (BLOCK_N / 8) + Place{row}.of(chunk); }
