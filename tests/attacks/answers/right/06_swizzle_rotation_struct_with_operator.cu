
struct Rotate { int pitch; __device__ constexpr int operator()(int row, int chunk) const { return row * pitch + (chunk & ~7) + ((chunk + row) & 7); } };
__device__ __forceinline__ int chunk_a(int row, int chunk) { return Rotate{BLOCK_K / 8}(row, chunk); }
__device__ __forceinline__ int chunk_b(int row, int chunk) { return Rotate{BLOCK_N / 8}(row, chunk); }
