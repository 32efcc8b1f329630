  setmaxnreg_inc<CONSUMER_REGISTERS>();                       // and the multiplying one gets these
  int stage = 0, parity = 0;
  int before = 0;
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity)) {
    mbarrier_wait_parity(full + stage * 8, parity);           // the tile's bytes have come
    multiply(stage, k_tile);
    wgmma_wait_group<1>();                                    // the products before these are done: free their buffer
    if (k_tile > 0 && threadIdx.x % 32 == 0) mbarrier_arrive(empty + before * 8);
    before = stage;
  }
  wgmma_wait_group<0>();
