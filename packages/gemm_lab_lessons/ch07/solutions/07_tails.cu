  int k_copy = 0;                                             // the k tile that is copied next
  const auto copy = [&](uint32_t stage) {                     // to the buffer at this byte, no wait
    const uint32_t k_bytes = k_copy * 2;
    int bytes = 16;
    if (k_copy + chunk * 8 >= K) bytes = 0;                   // nothing is read, the chunk becomes zeros
    #pragma unroll
    for (int i = 0; i < PASSES_A; i++)
      cp_async_16b_zfill(to_a + stage + i * NUM_THREADS * 16, corner_a + k_bytes + from_a[i], bytes);
    #pragma unroll
    for (int i = 0; i < PASSES_B; i++)
      cp_async_16b_zfill(to_b + stage + i * NUM_THREADS * 16, corner_b + k_bytes + from_b[i], bytes);
    cp_async_commit();
    k_copy += BLOCK_K;
  };
