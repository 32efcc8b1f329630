    const float* a = smem_a[thread_m];
    int k = 0;
  again:
    acc += a[k] * smem_b[k][thread_n];
    if (++k < BLOCK_K) goto again;
    if (k_tile + BLOCK_K < K) __syncthreads();
