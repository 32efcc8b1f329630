
__device__ __forceinline__ int at_a(int row, int k) { return row * PITCH_A + ((k / 8 + row / 2) % 4 * 8 | k % 8); }
__device__ __forceinline__ int at_b(int k, int col) { return k * PITCH_B + col / 64 * 64 + (col + k * 8) % 64; }
