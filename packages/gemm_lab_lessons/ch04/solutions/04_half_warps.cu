    #pragma unroll
    for (int turn = 0; turn < BLOCK_M * BLOCK_K / NUM_THREADS; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x;
      int m = i / BLOCK_K, k = i % BLOCK_K;
      // The halves of a warp take rows that lie 16 apart: their banks, k + m mod 32, are 0…15 and 16…31 further on.
      const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
      m = turn / 2 * 32 + lane / 16 * 16 + turn % 2 * 8 + warp;
      k = lane % 16;
      const int row = block_m + m, col = k_tile + k;
      smem_a[k][m] = row < M && col < K ? gmem_a[static_cast<size_t>(row) * K + col] : 0.0f;
    }
    #pragma unroll
    for (int turn = 0; turn < BLOCK_K * BLOCK_N / NUM_THREADS; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x, k = k_tile + i / BLOCK_N, col = block_n + i % BLOCK_N;
      smem_b[i / BLOCK_N][i % BLOCK_N] = k < K && col < N ? gmem_b[static_cast<size_t>(k) * N + col] : 0.0f;
    }
    __syncthreads();         // every thread waits until the whole tile is there
