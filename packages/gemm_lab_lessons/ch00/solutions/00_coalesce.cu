  const int row = blockIdx.y * BLOCK_M + threadIdx.x / BLOCK_N;
  const int col = blockIdx.x * BLOCK_N + threadIdx.x % BLOCK_N;
