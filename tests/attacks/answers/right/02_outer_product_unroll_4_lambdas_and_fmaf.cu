
    auto rows = [&](int k) { for (int i = 0; i < THREAD_M; ++i) frag_a[i] = smem_a[k][thread_m + i * NUM_THREADS_M]; };
    auto columns = [&](int k) { for (int j = 0; j < THREAD_N; ++j) frag_b[j] = smem_b[k][thread_n + j * NUM_THREADS_N]; };
    #pragma unroll 4
    for (int k = 0; k < BLOCK_K; k++) {
      rows(k); columns(k);
      #pragma unroll
      for (int ij = 0; ij < THREAD_M * THREAD_N; ij++) acc[ij / THREAD_N][ij % THREAD_N] = __fmaf_rn(frag_a[ij / THREAD_N], frag_b[ij % THREAD_N], acc[ij / THREAD_N][ij % THREAD_N]);
    }
    __syncthreads();
