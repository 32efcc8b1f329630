    #pragma unroll
    for (int j = 0; j < BLOCK_N / 8; j++) total[j][0] = total[j][1] = total[j][2] = total[j][3] = 0;
    for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity)) {
      mbarrier_wait_parity(full + stage * 8, parity);         // the tile's bytes have come
      multiply(stage);
      wgmma_wait_group<0>();                                  // acc may be read, and the buffer filled again
      release(stage);
      promote();
    }
