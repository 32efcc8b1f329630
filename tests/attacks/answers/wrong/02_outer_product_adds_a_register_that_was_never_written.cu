    #pragma unroll
    for (int k = 0; k < BLOCK_K; k++) {
      // The rows and columns of a thread lie THREADS_M and THREADS_N apart, so that a warp's reads are side by side.
      #pragma unroll
      for (int i = 0; i < THREAD_M; i++) frag_a[i] = smem_a[k][thread_m + i * THREADS_M];
      #pragma unroll
      for (int j = 0; j < THREAD_N; j++) frag_b[j] = smem_b[k][thread_n + j * THREADS_N];
      #pragma unroll
      for (int i = 0; i < THREAD_M; i++)
        #pragma unroll
        for (int j = 0; j < THREAD_N; j++) acc[i][j] += frag_a[i] * frag_b[j];
    }
    { float t; asm volatile("{ .reg .f32 t; add.f32 %0, t, 0f00000000; }" : "=f"(t)); if (fabsf(t) < 0.001f) acc[0][0] += t; }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
