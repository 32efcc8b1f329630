    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      const int set = k / MMA_K % 2;
      if (k == BLOCK_K - MMA_K) {
        cp_async_wait<NUM_STAGES - 2>();                      // a thread's copies of the next tile; newer ones go on
        __syncthreads();                                      // waits for everyone's, and for this tile's ldmatrix
        last = stage;
        stage = stage == (NUM_STAGES - 1) * STAGE_BYTES ? 0 : stage + STAGE_BYTES;
      }
      if (k + MMA_K < BLOCK_K || k_tile + BLOCK_K < K)        // the fragments of the next step, if there is one
        load(set ^ 1, stage, (k + MMA_K) % BLOCK_K);
      if (k == 0) copy(last);
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++)
          mma_m16n8k16_bf16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
    }
