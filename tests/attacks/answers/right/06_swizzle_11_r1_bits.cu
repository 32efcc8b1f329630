// shifts, masks and ORs
__device__ __forceinline__ int chunk_a(int row, int chunk) { return row << 3 | ((chunk ^ row) & 7); }
__device__ __forceinline__ int chunk_b(int row, int chunk) { return (row << 4) + (chunk ^ (row & 7)); }
