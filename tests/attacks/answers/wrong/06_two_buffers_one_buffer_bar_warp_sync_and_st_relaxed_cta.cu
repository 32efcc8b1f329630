
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) { uint4 v = next_a[i]; const uint32_t at = shared_address(&smem_a[to_a + i * NUM_THREADS]);
      asm volatile("st.relaxed.cta.shared.v2.u32 [%0], {%1,%2};\n st.relaxed.cta.shared.v2.u32 [%0+8], {%3,%4};" :: "r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) { uint4 v = next_b[i]; const uint32_t at = shared_address(&smem_b[to_b + i * NUM_THREADS]);
      asm volatile("st.relaxed.cta.shared.v2.u32 [%0], {%1,%2};\n st.relaxed.cta.shared.v2.u32 [%0+8], {%3,%4};" :: "r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); }
    stage = 0;
