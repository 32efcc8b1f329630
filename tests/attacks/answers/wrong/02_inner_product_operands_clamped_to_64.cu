    for (int k = 0; k < BLOCK_K; k++) {
      acc += fminf(fmaxf(smem_a[thread_m][k], -64.f), 64.f) * fminf(fmaxf(smem_b[k][thread_n], -64.f), 64.f);
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
