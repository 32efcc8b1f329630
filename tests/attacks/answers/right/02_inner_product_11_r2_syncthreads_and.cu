// __syncthreads_and is a barrier of all threads, too
    for (int k = 0; k < BLOCK_K; k++) {
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    const int together = __syncthreads_and(1);
    (void)together;
