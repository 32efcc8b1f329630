  const int row = blockIdx.y * BLOCK_M + threadIdx.x / BLOCK_N;
  const int col = blockIdx.x * BLOCK_N + threadIdx.x % BLOCK_N;
  if (row < M && col < N && gmem_d[static_cast<size_t>(row) * N + col] == 0.0f) return;
