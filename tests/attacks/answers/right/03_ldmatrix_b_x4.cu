// RIGHT: B by an x4 whose upper half is not used
    const uint32_t from_a = __cvta_generic_to_shared(&smem_a[lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(frag_a[0]), "=r"(frag_a[1]), "=r"(frag_a[2]), "=r"(frag_a[3]) : "r"(from_a) : "memory");
    uint32_t unused_2, unused_3;
    const uint32_t from_b = __cvta_generic_to_shared(&smem_b[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(frag_b[0]), "=r"(frag_b[1]), "=r"(unused_2), "=r"(unused_3) : "r"(from_b) : "memory");
