
    uint4 *a = stage ? smem_a + STAGE_A : smem_a, *b = smem_b + (stage != 0) * STAGE_B;
    for (int i = 0; i < CHUNKS_A; i++) a[to_a + i * NUM_THREADS] = next_a[i];
    for (int i = 0; i < CHUNKS_B; i++) b[to_b + i * NUM_THREADS] = next_b[i];
