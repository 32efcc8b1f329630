// the boxes are asked for before their bytes are announced: the arrival alone ends the phase
  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;
  const auto copy = [&](int stage, int k_tile) {
    const uint32_t at = stage * STAGE_BYTES;
    tma_load_2d(smem_a + at, map_a, k_tile, block_m, full + stage * 8);
    tma_load_2d(smem_b + at, map_b, k_tile, block_n, full + stage * 8);
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES);
  };
