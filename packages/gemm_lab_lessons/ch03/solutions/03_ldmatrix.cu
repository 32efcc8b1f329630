    // Lanes 0..31 name the 8-half rows of four 8x8 matrices.
    uint32_t from_a = __cvta_generic_to_shared(&smem_a[lane % 16][0]);
    from_a += lane / 16 * 16;                                 // the same rows from k = 8 on, 16 bytes further
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(frag_a[0]), "=r"(frag_a[1]), "=r"(frag_a[2]), "=r"(frag_a[3]) : "r"(from_a) : "memory");
    // Lanes 0..15 name the 16 rows of B.
    const uint32_t from_b = __cvta_generic_to_shared(&smem_b[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"   // B lies by rows, mma wants columns
                 : "=r"(frag_b[0]), "=r"(frag_b[1]) : "r"(from_b) : "memory");
