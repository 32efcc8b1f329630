    for (int k = 0; k < BLOCK_K; k++) {
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    const int many = BLOCK_N * 2; asm volatile("barrier.sync %0, %1;" :: "r"(k_tile / BLOCK_K % 8), "r"(many) : "memory");         // nobody overwrites the tile while somebody still reads it
