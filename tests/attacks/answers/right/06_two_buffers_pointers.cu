// RIGHT: pointers to the buffer, chosen by the tile's number
    uint4* const tile_a = smem_a + (k_tile / BLOCK_K & 1) * STAGE_A + to_a;
    uint4* const tile_b = smem_b + (k_tile / BLOCK_K & 1) * STAGE_B + to_b;
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) tile_b[i * NUM_THREADS] = next_b[i];
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) tile_a[i * NUM_THREADS] = next_a[i];
