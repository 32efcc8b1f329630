  // Where this thread's chunks lie, once: its first chunk of each tile, and how far the others are from it.
  const half* from_a = gmem_a + static_cast<size_t>(threadIdx.x / (BLOCK_K / 8)) * K + threadIdx.x % (BLOCK_K / 8) * 8;
  const half* from_b = gmem_b + static_cast<size_t>(threadIdx.x / (BLOCK_N / 8)) * N + threadIdx.x % (BLOCK_N / 8) * 8;
  const uint32_t pass_a = NUM_THREADS * 8 / BLOCK_K * K, pass_b = NUM_THREADS * 8 / BLOCK_N * N;
  const auto fetch = [&](int) {                               // global memory to registers, no wait
    #pragma unroll
    for (int i = 0; i < BLOCK_M * BLOCK_K / 8 / NUM_THREADS; i++)
      next_a[i] = *reinterpret_cast<const uint4*>(from_a + i * pass_a);
    #pragma unroll
    for (int i = 0; i < BLOCK_K * BLOCK_N / 8 / NUM_THREADS; i++)
      next_b[i] = *reinterpret_cast<const uint4*>(from_b + i * pass_b);
    from_a += BLOCK_K;                                        // tiles come in order: a step is a constant
    from_b += static_cast<size_t>(BLOCK_K) * N;
  };
