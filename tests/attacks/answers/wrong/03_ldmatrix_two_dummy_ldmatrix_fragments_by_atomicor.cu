
    const uint32_t from_a = __cvta_generic_to_shared(&smem_a[lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(frag_a[0]), "=r"(frag_a[1]), "=r"(frag_a[2]), "=r"(frag_a[3]) : "r"(from_a) : "memory");
    const uint32_t from_b = __cvta_generic_to_shared(&smem_b[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(frag_b[0]), "=r"(frag_b[1]) : "r"(from_b) : "memory");
    #pragma unroll
    for (int r = 0; r < 4; r++)
      frag_a[r] = atomicOr((unsigned*)&smem_a[lane / 4 + r % 2 * 8][lane % 4 * 2 + r / 2 * 8], 0u);
    __syncwarp();
