__device__ __forceinline__ int bytes_at(int row, int chunk) { const int at = (row * BLOCK_K + chunk * 8) * 2; return at ^ (at & 0x380) >> 3; }
