
  const auto copy = [&](int stage, Tile tile, int k_tile) {
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES);
    tma_load_2d(smem_a + at, map_a, k_tile, (tile.m * CLUSTER + rank) * BLOCK_M, full + stage * 8);
    #pragma unroll 1
    for (int h = 0; h < CLUSTER; h++)
      tma_load_2d_multicast(smem_b + at + h * BLOCK_N / CLUSTER * BLOCK_K * 2, map_b, k_tile, tile.n * BLOCK_N + h * BLOCK_N / CLUSTER, full + stage * 8, 1 << rank);
  };
