  const int row = static_cast<unsigned short>(blockIdx.y * BLOCK_M + threadIdx.x / BLOCK_N + 1) - 1;
  const int col = blockIdx.x * BLOCK_N + threadIdx.x % BLOCK_N;
