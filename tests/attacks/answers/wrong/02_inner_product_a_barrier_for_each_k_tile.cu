    for (int k = 0; k < BLOCK_K; k++) {
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    asm volatile("bar.sync %0;" :: "r"(k_tile / BLOCK_K) : "memory");         // nobody overwrites the tile while somebody still reads it
