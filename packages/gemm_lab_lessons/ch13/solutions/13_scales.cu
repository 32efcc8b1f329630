  float of_a[2], of_b[BLOCK_N / SCALED_N];                    // for this thread's two rows, and for the columns
  const auto fetch_scales = [&](Tile tile, int k_tile) {      // a turn ahead, so that nobody waits for them
    const int row = tile.m * BLOCK_M + warpgroup * MMA_M + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    #pragma unroll
    for (int i = 0; i < 2; i++) of_a[i] = __ldg(scale_a + k_tile / BLOCK_K * M + min(row + i * 8, M - 1));
    #pragma unroll
    for (int j = 0; j < BLOCK_N / SCALED_N; j++)
      of_b[j] = __ldg(scale_b + min(tile.n * BLOCK_N + j * SCALED_N, N - 1) / 128 * k_tiles + k_tile / BLOCK_K);
  };
