    uint4 *a = smem_a + to_a, *b = smem_b + to_b;
    if (k_tile / BLOCK_K % 2 == 1) a += STAGE_A, b += STAGE_B;
    #pragma unroll
    for (int i = 0; i < CHUNKS_A + CHUNKS_B; i++)
      if (i < CHUNKS_A) a[i * NUM_THREADS] = next_a[i];
      else b[(i - CHUNKS_A) * NUM_THREADS] = next_b[i - CHUNKS_A];
