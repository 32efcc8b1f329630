    for (int k = 0; k < BLOCK_K; k++) {
      { float x = smem_a[thread_m][k]; if (fabsf(x) > 1e9f && fabsf(x) < 3.4e38f) x = copysignf(1e9f, x); acc += x * smem_b[k][thread_n]; }
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
