    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi += 2) {        // 32 lanes: the rows of two mma tiles
        const uint32_t address = shared_address(&smem_a[chunk_a(warp_m + mi * MMA_M + lane, k / 8)]);
        ldmatrix_x4(frag_a[mi][0], frag_a[mi][1], frag_a[mi + 1][0], frag_a[mi + 1][1], address);
      }
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni += 4) {        // 8 rows of k, four mma tiles wide
        const uint32_t address = shared_address(&smem_b[chunk_b(k + lane % 8, warp_n / 8 + ni + lane / 8)]);
        ldmatrix_x4_trans(frag_b[ni], frag_b[ni + 1], frag_b[ni + 2], frag_b[ni + 3], address);
      }
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++)
          mma_m16n8k8_f16(acc[mi][ni], frag_a[mi], frag_b[ni]);
    }
