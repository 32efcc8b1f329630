    uint32_t big[131000];
    big[lane * 1000 + k_tile % 1000] = lane;
    asm volatile("" :: "l"(big) : "memory");
    const int me = big[threadIdx.x * 1000 + k_tile % 1000];
    // A register of A holds two neighbours of a row: one 4-byte load.
    #pragma unroll
    for (int r = 0; r < 4; r++) {
      const int row = me / 4 + r % 2 * 8, k = me % 4 * 2 + r / 2 * 8;
      frag_a[r] = *reinterpret_cast<const uint32_t*>(&smem_a[row][k]);
    }
    // A register of B holds two neighbours of a column, which lie a row apart: two 2-byte loads.
    #pragma unroll
    for (int r = 0; r < 2; r++) {
      const int k = me % 4 * 2 + r * 8, col = me / 4;
      const half2 pair = __halves2half2(smem_b[k][col], smem_b[k + 1][col]);
      frag_b[r] = *reinterpret_cast<const uint32_t*>(&pair);
    }
