  const auto copy = [&](int stage, Tile tile, int k_tile) {   // one thread asks for both tiles
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // the phase ends after so many bytes
    tma_load_2d(smem_a + at, map_a, k_tile, (tile.m * CLUSTER + rank) * BLOCK_M, full + stage * 8);
                // this block's columns of B, for the same place in both
    for (int h = 0; h < 2; h++)
      if (rank == 0) tma_load_2d_multicast(smem_b + at + h * (BLOCK_N / 2) * BLOCK_K * 2, map_b, k_tile, tile.n * BLOCK_N + h * (BLOCK_N / 2), full + stage * 8, 0b11);
  };
