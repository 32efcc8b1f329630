  const short row = blockIdx.y * BLOCK_M + threadIdx.x / BLOCK_N;
  const short col = blockIdx.x * BLOCK_N + threadIdx.x % BLOCK_N;
