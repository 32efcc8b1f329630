// barrier behind every second tile only, nothing for the others
    for (int k = 0; k < BLOCK_K; k++) {
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    if (k_tile % (2 * BLOCK_K) == 0) __syncthreads();         // nobody overwrites the tile while somebody still reads it
