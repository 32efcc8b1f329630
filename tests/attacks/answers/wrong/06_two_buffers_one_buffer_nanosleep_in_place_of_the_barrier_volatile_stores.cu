
    __nanosleep(1000);
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) { volatile uint32_t* p = (volatile uint32_t*)&smem_a[to_a + i * NUM_THREADS]; p[0] = next_a[i].x, p[1] = next_a[i].y, p[2] = next_a[i].z, p[3] = next_a[i].w; }
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) { volatile uint32_t* p = (volatile uint32_t*)&smem_b[to_b + i * NUM_THREADS]; p[0] = next_b[i].x, p[1] = next_b[i].y, p[2] = next_b[i].z, p[3] = next_b[i].w; }
    stage = 0;
