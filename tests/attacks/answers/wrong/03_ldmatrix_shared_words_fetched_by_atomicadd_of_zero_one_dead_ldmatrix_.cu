
    uint32_t q[4];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(q[0]), "=r"(q[1]), "=r"(q[2]), "=r"(q[3]) : "r"((uint32_t)__cvta_generic_to_shared(&smem_a[lane % 16][0])) : "memory");
    #pragma unroll
    for (int r = 0; r < 4; r++) frag_a[r] = atomicAdd((unsigned*)&smem_a[lane / 4 + r % 2 * 8][lane % 4 * 2 + r / 2 * 8], 0u);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];" : "=r"(frag_b[0]), "=r"(frag_b[1]) : "r"((uint32_t)__cvta_generic_to_shared(&smem_b[lane % 16][0])) : "memory");
    __syncwarp();
