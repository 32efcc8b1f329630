    #pragma unroll
    for (int step = 0; step < 2; step++) {                    // the mma does not add: plain additions do
      float d[4];
      asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %7, %7, %7};"
          : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
          : "r"(frag_a[2 * step]), "r"(frag_a[2 * step + 1]), "r"(frag_b[step]), "f"(0.0f));
      for (int i = 0; i < 4; i++) acc[i] += d[i];
    }
