// CUTLASS's way: ask for the next bytes while products run, wait only if they have not come
  setmaxnreg_inc<CONSUMER_REGISTERS>();
  int stage = 0, parity = 0, before = 0;
  bool here = false;
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    if (!here) mbarrier_wait_parity(full + stage * 8, parity);
    multiply(stage, k_tile);
    const int now = stage;
    advance(stage, parity);
    here = k_tile + BLOCK_K < K && mbarrier_try_wait_parity(full + stage * 8, parity);
    wgmma_wait_group<1>();
    if (k_tile > 0 && threadIdx.x % 32 == 0) mbarrier_arrive(empty + before * 8);
    before = now;
  }
  wgmma_wait_group<0>();
