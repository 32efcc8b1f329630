    float part[2][4] = {};
    int step = 0;
    while (step < 2) {
      float (&d)[4] = part[step];
      asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
          : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
          : "r"(frag_a[2 * step]), "r"(frag_a[2 * step + 1]), "r"(frag_b[step]),
            "f"(step ? part[0][0] : acc[0]), "f"(step ? part[0][1] : acc[1]), "f"(step ? part[0][2] : acc[2]), "f"(step ? part[0][3] : acc[3]));
      ++step;
    }
    for (int i = 0; i < 4; i++) acc[i] = part[1][i];
