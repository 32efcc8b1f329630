
    const int half = threadIdx.x >> 4 & 1;
    for (int turn = 0; turn < BLOCK_M * BLOCK_K / NUM_THREADS; turn++) {
      const int pair = turn * (NUM_THREADS / 32) + threadIdx.x / 32;
      const int m = pair / 16 * 32 + pair % 16 + half * 16, k = threadIdx.x & 15;
      float v = 0;
      if (block_m + m < M && k_tile + k < K) v = __ldg(gmem_a + (size_t)(block_m + m) * K + k_tile + k);
      smem_a[k][m] = v;
    }
    for (int i = threadIdx.x; i < BLOCK_K * BLOCK_N; i += NUM_THREADS) {
      const int k = i / BLOCK_N, n = i % BLOCK_N;
      smem_b[k][n] = k_tile + k < K && block_n + n < N ? gmem_b[(size_t)(k_tile + k) * N + block_n + n] : 0.f;
    }
    __syncthreads();
