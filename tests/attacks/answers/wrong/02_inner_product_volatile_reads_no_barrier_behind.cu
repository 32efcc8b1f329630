
    for (int k = 0; k < BLOCK_K; k++)
      acc += *(volatile float*)&smem_a[thread_m][k] * *(volatile float*)&smem_b[k][thread_n];
