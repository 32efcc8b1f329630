// An XOR of whole chunks of 8 elements. Two rows of A share a line of 128 bytes, so only every second row changes it.
__device__ __forceinline__ int at_a(int row, int k) { return row * PITCH_A + (k ^ row / 2 % 4 * 8); }
__device__ __forceinline__ int at_b(int k, int col) { return k * PITCH_B + (col ^ k % 8 * 8); }
