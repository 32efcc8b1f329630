    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) smem_a[stage * STAGE_A + to_a + i * NUM_THREADS] = next_a[i];
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) smem_b[stage * STAGE_B + to_b + i * NUM_THREADS] = next_b[i];
