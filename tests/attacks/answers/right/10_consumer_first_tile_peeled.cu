
  setmaxnreg_inc<CONSUMER_REGISTERS>();
  int stage = 0, parity = 0;
  mbarrier_wait_parity(full, 0);
  multiply(0, 0);
  advance(stage, parity);
  for (int k_tile = BLOCK_K; k_tile < K; k_tile += BLOCK_K) {
    const int before = stage == 0 ? NUM_STAGES - 1 : stage - 1;
    mbarrier_wait_parity(full + stage * 8, parity);
    multiply(stage, k_tile);
    wgmma_wait_group<1>();
    if (!(threadIdx.x & 31)) mbarrier_arrive(empty + before * 8);
    advance(stage, parity);
  }
  wgmma_wait_group<0>();
