  static_assert(sizeof(BLOCK_N / 2) == alignof(int), "whole numbers");
  const unsigned columns = BLOCK_N * sizeof(BLOCK_N - 1) / sizeof(int), thread = threadIdx.x;
  const int col = blockIdx.x * columns + thread % columns, row = blockIdx.y * BLOCK_M + thread / columns;
