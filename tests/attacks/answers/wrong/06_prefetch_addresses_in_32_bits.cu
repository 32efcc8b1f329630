  const auto fetch = [&](int k_tile) {                        // global memory to registers; nobody waits here
    #pragma unroll
    for (int i = 0; i < BLOCK_M * BLOCK_K / 8 / NUM_THREADS; i++) {
      const int index = i * NUM_THREADS + threadIdx.x;
      const int row = index / (BLOCK_K / 8), chunk = index % (BLOCK_K / 8);
      const unsigned long long base = reinterpret_cast<unsigned long long>(gmem_a);
      next_a[i] = *reinterpret_cast<const uint4*>(base >> 32 << 32 | uint32_t(uint32_t(base) + (row * K + k_tile + chunk * 8) * 2));
    }
    #pragma unroll
    for (int i = 0; i < BLOCK_K * BLOCK_N / 8 / NUM_THREADS; i++) {
      const int index = i * NUM_THREADS + threadIdx.x;
      const int row = index / (BLOCK_N / 8), chunk = index % (BLOCK_N / 8);
      next_b[i] = reinterpret_cast<const uint4*>(gmem_b + static_cast<size_t>(k_tile + row) * N)[chunk];
    }
  };
