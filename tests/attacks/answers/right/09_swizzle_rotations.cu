__device__ __forceinline__ int at_a(int row, int k) { return row * PITCH_A + (k + (row >> 1) * 8) % 32; }
__device__ __forceinline__ int at_b(int k, int col) { return k * PITCH_B + (col + k * 8) % 256; }
