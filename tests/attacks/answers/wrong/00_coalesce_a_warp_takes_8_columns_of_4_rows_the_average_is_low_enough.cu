
  const int row = blockIdx.y * BLOCK_M + threadIdx.x / 8 % BLOCK_M;
  const int col = blockIdx.x * BLOCK_N + threadIdx.x / (8 * BLOCK_M) * 8 + threadIdx.x % 8;
