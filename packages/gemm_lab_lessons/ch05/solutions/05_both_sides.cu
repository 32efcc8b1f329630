    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi += 2) {        // 32 lanes: the rows of two mma tiles
        uint32_t address = lane_a;
        address ^= k / 8 * 16;                                // along the row: an XOR
        address += mi * MMA_M * BLOCK_K * 2;                  // down by whole groups of 8 rows: an addition
        ldmatrix_x4(frag_a[mi][0], frag_a[mi][1], frag_a[mi + 1][0], frag_a[mi + 1][1], address);
      }
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni += 4) {        // 8 rows of k, four mma tiles wide
        uint32_t address = lane_b;
        address ^= ni % 8 * 16;
        address += k * BLOCK_N * 2 + ni / 8 * 128;
        ldmatrix_x4_trans(frag_b[ni], frag_b[ni + 1], frag_b[ni + 2], frag_b[ni + 3], address);
      }
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++)
          mma_m16n8k8_f16(acc[mi][ni], frag_a[mi], frag_b[ni]);
    }
