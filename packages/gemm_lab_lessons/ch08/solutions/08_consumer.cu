    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      const bool last = k == BLOCK_K - MMA_K, more = k_tile + BLOCK_K < K;
      const int set = k / MMA_K % 2, read = stage, begin = last ? WAIT_AT : 0;
      if (last) {
        stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
        parity ^= stage == 0;                                 // stage 0 begins the next phase
      }
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni++) {           // columns of products, and between them, for the
        if (last && more && ni == begin) mbarrier_wait_parity(full + stage * 8, parity);   // next step: its bytes
        if (ni >= begin) load(set ^ 1, last && !more ? read : stage, (k + MMA_K) % BLOCK_K, ni - begin);
        #pragma unroll
        for (int i = 0; i < WARP_M / MMA_M; i++) {            // a snake: one of the fragments stays
          const int mi = ni % 2 ? WARP_M / MMA_M - 1 - i : i;
          mma_m16n8k16_bf16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
        }
      }
      if (last) {
        __syncwarp();                                         // all lanes have what they read of this tile
        if (lane == 0) mbarrier_arrive(empty + read * 8);     // the producer may overwrite it
      }
    }
