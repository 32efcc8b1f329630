    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      const int set = k / MMA_K % 2;
      if (k == BLOCK_K - MMA_K) {
        __syncthreads();                                      // waits for the next tile's stores, this one's ldmatrix
        stage ^= 1;
      }
      load(set ^ 1, stage, (k + MMA_K) % BLOCK_K);            // the fragments of the next step
      if (k == 0 && k_tile + BLOCK_K < K) fetch();            // as soon as the other buffer is free
      if (k == MMA_K) store_a(stage ^ 1);                     // in two steps: stores delay ldmatrix
      if (k == 2 * MMA_K) store_b(stage ^ 1);                 // (also after the last tile, unread)
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++)
          mma_m16n8k8_f16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
    }
