    for (int k = 0; k < BLOCK_K; k++) {
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    asm volatile("bar.sync 1, 32;" ::: "memory");         // nobody overwrites the tile while somebody still reads it
