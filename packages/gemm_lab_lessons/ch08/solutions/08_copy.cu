  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;    // [NUM_STAGES] mbarriers of 8 bytes
  const auto copy = [&](int stage, int k_tile) {              // one thread asks for both tiles
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // the phase ends after so many bytes
    tma_load_2d(smem_a + at, map_a, k_tile, block_m, full + stage * 8);
    tma_load_2d(smem_b + at, map_b, k_tile, block_n, full + stage * 8);
  };
