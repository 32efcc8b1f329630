    int at_a = to_a, at_b = to_b;
    at_a += stage * STAGE_A;
    at_b += stage * STAGE_B;
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) smem_a[at_a + i * NUM_THREADS] = next_a[i];
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) smem_b[at_b + i * NUM_THREADS] = next_b[i];
