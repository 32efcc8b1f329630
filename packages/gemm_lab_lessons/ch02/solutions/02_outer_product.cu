    #pragma unroll
    for (int k = 0; k < BLOCK_K; k++) {
      // A thread's rows lie NUM_THREADS_M apart, its columns NUM_THREADS_N, so that a warp's reads are side by side.
      #pragma unroll
      for (int i = 0; i < THREAD_M; i++) frag_a[i] = smem_a[k][thread_m + i * NUM_THREADS_M];
      #pragma unroll
      for (int j = 0; j < THREAD_N; j++) frag_b[j] = smem_b[k][thread_n + j * NUM_THREADS_N];
      #pragma unroll
      for (int i = 0; i < THREAD_M; i++)
        #pragma unroll
        for (int j = 0; j < THREAD_N; j++) acc[i][j] += frag_a[i] * frag_b[j];
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
