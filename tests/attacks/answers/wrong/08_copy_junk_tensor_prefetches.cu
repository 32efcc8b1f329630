  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;    // [NUM_STAGES] mbarriers of 8 bytes
  const auto copy = [&](int stage, int k_tile) {              // one thread: asks for both tiles and returns
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // this phase ends when so many bytes have come
    tma_load_2d(smem_a + at, map_a, k_tile, block_m, full + stage * 8);
    for (int i = 0; i < 8; i++) asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" :: "l"(&map_a), "r"(k_tile), "r"(block_m + i * 8) : "memory");
    tma_load_2d(smem_b + at, map_b, k_tile, block_n, full + stage * 8);
  };
