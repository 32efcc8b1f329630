    memset(total, 0, sizeof total);
    for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity)) {
      mbarrier_wait_parity(full + stage * 8, parity);         // the tile's bytes have come
      multiply(stage);
      wgmma_wait_group<0>();                                  // acc may be read, and the buffer filled again
      release(stage);
      promote();
    }
