  const auto copy = [&](int stage, Tile tile, int k_tile) {
    const uint32_t to = smem_a + stage * STAGE_BYTES, barrier = full + stage * 8;
    const int part = BLOCK_N / CLUSTER;
    tma_load_2d_multicast(to + STAGE_A + rank * (STAGE_B / CLUSTER), map_b, k_tile, tile.n * BLOCK_N + rank * part, barrier, (1 << CLUSTER) - 1);
    tma_load_2d(to, map_a, k_tile, (tile.m * CLUSTER + rank) * BLOCK_M, barrier);
    mbarrier_arrive_expect_tx(barrier, STAGE_BYTES);
  };
