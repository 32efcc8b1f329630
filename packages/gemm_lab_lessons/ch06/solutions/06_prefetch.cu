  const auto fetch = [&](int k_tile) {                        // global memory to registers, no wait
    #pragma unroll
    for (int i = 0; i < BLOCK_M * BLOCK_K / 8 / NUM_THREADS; i++) {
      const int index = i * NUM_THREADS + threadIdx.x;
      const int row = index / (BLOCK_K / 8), chunk = index % (BLOCK_K / 8);
      next_a[i] = reinterpret_cast<const uint4*>(gmem_a + static_cast<size_t>(row) * K + k_tile)[chunk];
    }
    #pragma unroll
    for (int i = 0; i < BLOCK_K * BLOCK_N / 8 / NUM_THREADS; i++) {
      const int index = i * NUM_THREADS + threadIdx.x;
      const int row = index / (BLOCK_N / 8), chunk = index % (BLOCK_N / 8);
      next_b[i] = reinterpret_cast<const uint4*>(gmem_b + static_cast<size_t>(k_tile + row) * N)[chunk];
    }
  };
