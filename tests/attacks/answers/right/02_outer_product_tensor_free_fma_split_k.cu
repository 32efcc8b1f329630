    for (int k = 0; k != BLOCK_K; k += 2) {
      #pragma unroll
      for (int half = 0; half < 2; half++) {
        for (int i = 0; i < THREAD_M; i++) frag_a[i] = smem_a[k + half][thread_m + i * NUM_THREADS_M];
        for (int j = 0; j < THREAD_N; j++) {
          const float b = frag_b[j] = smem_b[k + half][thread_n + j * NUM_THREADS_N];
          for (int i = 0; i < THREAD_M; i++) acc[i][j] = __fmaf_rn(frag_a[i], b, acc[i][j]);
        }
      }
    }
    __syncthreads();
