  int k_load = 0;                                             // the k tile that is copied next
  const auto load = [&](int stage) {                          // issues copies and does not wait
    const uint32_t at = stage * STAGE_BYTES;
    if (k_load < K) {
      #pragma unroll
      for (int i = 0; i < PASSES_A; i++) cp_async_16b(to_a + at + i * NUM_THREADS * 16, gmem_a + i * ROWS * K);
      #pragma unroll
      for (int i = 0; i < PASSES_B; i++) cp_async_16b(to_b + at + i * NUM_THREADS * 16, gmem_b + i * ROWS * K);
    }
    cp_async_commit();                                        // past the end an empty group: the count stays right
    gmem_a += BLOCK_K;
    gmem_b += BLOCK_K;
    k_load += BLOCK_K;
  };
