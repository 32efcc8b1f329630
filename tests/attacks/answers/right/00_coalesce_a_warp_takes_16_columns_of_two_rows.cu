// a warp takes 16 columns of two rows: 2.02 sectors a request
  const int row = blockIdx.y * BLOCK_M + threadIdx.x / 32 % 16 * 2 + threadIdx.x / 16 % 2;
  const int col = blockIdx.x * BLOCK_N + threadIdx.x / 512 * 16 + threadIdx.x % 16;
