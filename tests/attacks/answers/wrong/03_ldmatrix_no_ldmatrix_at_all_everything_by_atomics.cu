
    #pragma unroll
    for (int r = 0; r < 4; r++) frag_a[r] = atomicOr((unsigned*)&smem_a[lane / 4 + r % 2 * 8][lane % 4 * 2 + r / 2 * 8], 0u);
    #pragma unroll
    for (int r = 0; r < 2; r++) {
      const int k = lane % 4 * 2 + r * 8, c = lane / 4;
      const unsigned x = atomicOr((unsigned*)&smem_b[k][c & ~1], 0u), y = atomicOr((unsigned*)&smem_b[k + 1][c & ~1], 0u);
      frag_b[r] = __byte_perm(x, y, c & 1 ? 0x7632 : 0x5410);
    }
    __syncwarp();
