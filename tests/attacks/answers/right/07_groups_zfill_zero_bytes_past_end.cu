  int k_load = 0;
  const auto load = [&](int stage) {
    const uint32_t at = stage * STAGE_BYTES;
    const int bytes = k_load < K ? 16 : 0, step = k_load < K ? BLOCK_K : 0;
    #pragma unroll
    for (int i = 0; i < PASSES_A; i++) cp_async_16b_zfill(to_a + at + i * NUM_THREADS * 16, gmem_a + i * ROWS * K, bytes);
    #pragma unroll
    for (int i = 0; i < PASSES_B; i++) cp_async_16b_zfill(to_b + at + i * NUM_THREADS * 16, gmem_b + i * ROWS * K, bytes);
    cp_async_commit();
    gmem_a += step;
    gmem_b += step;
    k_load += BLOCK_K;
  };
