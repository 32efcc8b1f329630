// the ignore-src predicate of cp.async
  int k_copy = 0;                                             // the k tile that is copied next
  const auto copy = [&](uint32_t stage) {                     // into the buffer at this byte; nobody waits here
    const uint32_t k_bytes = k_copy * 2;
    const auto copy16 = [](uint32_t to, const void* from, int bytes) {
      asm volatile("{\n\t.reg .pred p;\n\tsetp.eq.s32 p, %2, 0;\n\tcp.async.cg.shared.global [%0], [%1], 16, p;\n\t}" :: "r"(to), "l"(from), "r"(bytes) : "memory");
    };
    int bytes = 16;
    if (k_copy + chunk * 8 >= K) bytes = 0;                   // nothing is read, the chunk becomes zeros
    #pragma unroll
    for (int i = 0; i < PASSES_A; i++)
      copy16(to_a + stage + i * NUM_THREADS * 16, corner_a + k_bytes + from_a[i], bytes);
    #pragma unroll
    for (int i = 0; i < PASSES_B; i++)
      copy16(to_b + stage + i * NUM_THREADS * 16, corner_b + k_bytes + from_b[i], bytes);
    cp_async_commit();
    k_copy += BLOCK_K;
  };
