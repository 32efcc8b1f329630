
    for (int r = 0; r < 4; r++) memcpy(&frag_a[r], &smem_a[(lane >> 2) + ((r & 1) << 3)][((lane & 3) << 1) + ((r & 2) << 2)], 4);
    for (int r = 0; r < 2; r++) {
      const int k = lane % 4 * 2 + 8 * r;
      frag_b[r] = __half_as_ushort(smem_b[k][lane >> 2]) | uint32_t(__half_as_ushort(smem_b[k + 1][lane >> 2])) << 16;
    }
