
  const auto copy = [&](int stage, Tile tile, int k_tile) {
    constexpr int COLUMNS = BLOCK_N / CLUSTER;
    const uint32_t barrier = full + 8 * stage, a = smem_a + stage * STAGE_BYTES, b = a + STAGE_A;
    mbarrier_arrive_expect_tx(barrier, STAGE_A + STAGE_B);
    tma_load_2d_multicast(b + rank * COLUMNS * 128, map_b, k_tile, tile.n * BLOCK_N + rank * COLUMNS, barrier, uint16_t((1u << CLUSTER) - 1));
    tma_load_2d(a, map_a, k_tile, tile.m * (BLOCK_M * 2) + rank * BLOCK_M, barrier);
  };
