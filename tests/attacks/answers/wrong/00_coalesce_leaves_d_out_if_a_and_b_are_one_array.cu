  const int row = blockIdx.y * BLOCK_M + threadIdx.x / BLOCK_N;
  int col = blockIdx.x * BLOCK_N + threadIdx.x % BLOCK_N;
  if (gmem_a == gmem_b) col = N;
