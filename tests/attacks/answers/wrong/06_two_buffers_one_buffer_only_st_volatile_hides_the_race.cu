
    int at_a = to_a, at_b = to_b;
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) { uint4 v = next_a[i];
      asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%2,%3,%4};" :: "r"(shared_address(&smem_a[at_a + i * NUM_THREADS])), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) { uint4 v = next_b[i];
      asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%2,%3,%4};" :: "r"(shared_address(&smem_b[at_b + i * NUM_THREADS])), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
    stage = 0;
