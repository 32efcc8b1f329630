    #pragma unroll
    for (int step = 0; step < 2; step++) {                    // k = 0..7, then k = 8..15
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                   "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                   : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                   : "r"(frag_a[2 * step]), "r"(frag_a[2 * step + 1]), "r"(frag_b[step]));
    }
