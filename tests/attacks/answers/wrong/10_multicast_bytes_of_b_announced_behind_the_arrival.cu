// A is announced with the arrival, B behind it: bytes of B on their way may end the phase between the two
  const auto copy = [&](int stage, Tile tile, int k_tile) {
    const uint32_t at = stage * STAGE_BYTES, barrier = full + stage * 8;
    const int half = rank * BLOCK_N / CLUSTER;
    tma_load_2d_multicast(smem_b + at + half * BLOCK_K * 2, map_b, k_tile, tile.n * BLOCK_N + half, barrier, 0b11);
    mbarrier_arrive_expect_tx(barrier, STAGE_A);
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(STAGE_B) : "memory");
    tma_load_2d(smem_a + at, map_a, k_tile, (tile.m * CLUSTER + rank) * BLOCK_M, barrier);
  };
