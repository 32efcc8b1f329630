
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(frag_a[0]), "=r"(frag_a[1]), "=r"(frag_a[2]), "=r"(frag_a[3]) : "l"(&smem_a[lane & 15][lane >> 4 << 3]) : "memory");
    asm volatile("{ .reg .u64 p; cvta.to.shared.u64 p, %2; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [p]; }"
                 : "=r"(frag_b[0]), "=r"(frag_b[1]) : "l"(&smem_b[lane < 16 ? lane : 0][0]) : "memory");
