    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      const int set = k / MMA_K % 2;
      const int read = stage;
      if (k == BLOCK_K - MMA_K) {
        stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
        parity ^= stage == 0;                                 // the barriers begin their next phase with stage 0
        if (k_tile + BLOCK_K < K) mbarrier_wait_parity(full + stage * 8, parity);   // the next tile's bytes
      }
      if (k + MMA_K < BLOCK_K || k_tile + BLOCK_K < K)        // the fragments of the next step, if there is one
        load(set ^ 1, stage, (k + MMA_K) % BLOCK_K);
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni++)
        #pragma unroll
        for (int i = 0; i < WARP_M / MMA_M; i++) {            // a snake: neighbours in time share a fragment
          const int mi = ni % 2 ? WARP_M / MMA_M - 1 - i : i;
          mma_m16n8k16_bf16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
        }
      if (k == BLOCK_K - MMA_K) {
        __syncwarp();                                         // all lanes have what they read of this tile
        if (lane == 0) mbarrier_arrive(empty + read * 8);     // the producer may overwrite it
      }
    }
