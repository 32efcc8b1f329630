__device__ __forceinline__ int at_a(int row, int k) {
  k ^= row / 2 % 4 * 8;      // whole chunks of 8; two rows of A share a line of 128 bytes, so every second row moves
  return row * PITCH_A + k;
}
__device__ __forceinline__ int at_b(int k, int col) {
  col ^= k % 8 * 8;
  return k * PITCH_B + col;
}
