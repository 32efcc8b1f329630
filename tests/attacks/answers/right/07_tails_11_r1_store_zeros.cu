// a chunk past K is zeros that the thread stores itself
  int k_copy = 0;
  const auto copy = [&](uint32_t stage) {
    const uint32_t k_bytes = k_copy * 2;
    const bool inside = k_copy + chunk * 8 < K;
    #pragma unroll
    for (int i = 0; i < PASSES_A; i++) {
      const uint32_t to = to_a + stage + i * NUM_THREADS * 16;
      if (inside) cp_async_16b(to, corner_a + k_bytes + from_a[i]);
      else asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" :: "r"(to), "r"(0) : "memory");
    }
    #pragma unroll
    for (int i = 0; i < PASSES_B; i++) {
      const uint32_t to = to_b + stage + i * NUM_THREADS * 16;
      if (inside) cp_async_16b(to, corner_b + k_bytes + from_b[i]);
      else asm volatile("st.shared.v4.u32 [%0], {%1, %1, %1, %1};" :: "r"(to), "r"(0) : "memory");
    }
    cp_async_commit();
    k_copy += BLOCK_K;
  };
