// RIGHT: no barrier behind the last tile: nobody overwrites it
    for (int k = 0; k < BLOCK_K; k++) {
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    if (k_tile + BLOCK_K < K) __syncthreads();         // nobody overwrites the tile while somebody still reads it
