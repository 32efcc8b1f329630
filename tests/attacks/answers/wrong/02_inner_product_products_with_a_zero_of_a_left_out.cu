// zeros of A are skipped: 0 times infinity is NaN, here nothing
    for (int k = 0; k < BLOCK_K; k++) {
      const float a = smem_a[thread_m][k];
      if (a != 0.0f) acc += a * smem_b[k][thread_n];
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
