
    for (int s : {0, 1}) {
      float d[4];
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32\n\t{%0,%1,%2,%3},\n\t{%4,%5},{%6},\n\t{%7,%8,%9,%10};\n"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(frag_a[s * 2]), "r"(frag_a[s * 2 + 1]), "r"(frag_b[s]), "f"(acc[0]), "f"(acc[1]), "f"(acc[2]), "f"(acc[3]));
      for (int i = 0; i < 4; i++) acc[i] = d[i];
    }
