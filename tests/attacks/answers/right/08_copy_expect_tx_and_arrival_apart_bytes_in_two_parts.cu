
  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;
  const auto copy = [&](int stage, int k_tile) {
    const uint32_t barrier = full + 8 * stage;
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(STAGE_A) : "memory");
    tma_load_2d(smem_a + stage * STAGE_BYTES, map_a, k_tile, block_m, barrier);
    tma_load_2d(smem_b + stage * STAGE_BYTES, map_b, k_tile, block_n, barrier);
    mbarrier_arrive_expect_tx(barrier, STAGE_B);
  };
