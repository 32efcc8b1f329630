    for (int k = 0; k < BLOCK_K; k++) {
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
