  const auto copy = [&](int stage, Tile tile, int k_tile) {   // one thread asks for both tiles
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // the phase ends after so many bytes
    tma_load_2d(smem_a + at, map_a, k_tile, (tile.m * CLUSTER + rank) * BLOCK_M, full + stage * 8);
    const int half = rank * BLOCK_N / CLUSTER;                // this block's columns of B, for the same place in both
    tma_load_2d_multicast(smem_b + at + half * BLOCK_K * 2, map_b, k_tile, tile.n * BLOCK_N + half, full + stage * 8,
                          0b11);
  };
