    memset(total, 0, sizeof total);
    mbarrier_wait_parity(full + stage * 8, parity);           // the tile's bytes have come
    for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
      multiply(stage);
      const int read = stage;
      advance(stage, parity);                                 // while the products run: until the next tile is there
      if (k_tile + BLOCK_K < K) mbarrier_wait_parity(full + stage * 8, parity);
      wgmma_wait_group<0>();                                  // acc may be read, and the buffer filled again
      release(read);
      promote();
    }
