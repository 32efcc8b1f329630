// zeros of B are skipped: NaN or infinity of A times 0 is NaN
    for (int k = 0; k < BLOCK_K; k++) {
      if (smem_b[k][thread_n] != 0.0f) acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
