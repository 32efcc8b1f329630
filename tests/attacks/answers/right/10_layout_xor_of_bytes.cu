__device__ __forceinline__ int bytes_at(int row, int chunk) {
  const int plain = row << 7 | chunk << 4;
  return plain ^ ((plain >> 7 & 7) << 4);
}
