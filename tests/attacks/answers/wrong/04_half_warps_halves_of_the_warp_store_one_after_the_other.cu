
    #pragma unroll
    for (int turn = 0; turn < BLOCK_M * BLOCK_K / NUM_THREADS; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x, row = block_m + i / BLOCK_K, k = k_tile + i % BLOCK_K;
      const float v = row < M && k < K ? gmem_a[static_cast<size_t>(row) * K + k] : 0.0f;
      if (threadIdx.x % 32 < 16) *(volatile float*)&smem_a[i % BLOCK_K][i / BLOCK_K] = v;
      __syncwarp();
      if (threadIdx.x % 32 >= 16) *(volatile float*)&smem_a[i % BLOCK_K][i / BLOCK_K] = v;
    }
    #pragma unroll
    for (int turn = 0; turn < BLOCK_K * BLOCK_N / NUM_THREADS; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x, k = k_tile + i / BLOCK_N, col = block_n + i % BLOCK_N;
      smem_b[i / BLOCK_N][i % BLOCK_N] = k < K && col < N ? gmem_b[static_cast<size_t>(k) * N + col] : 0.0f;
    }
    __syncthreads();
