
  setmaxnreg_inc<CONSUMER_REGISTERS>();
  int stage = 0, parity = 0, before = -1;
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    mbarrier_wait_parity(full + stage * 8, parity);
    multiply(stage, k_tile);
    wgmma_wait_group<1>();
    if (before >= 0) { if (threadIdx.x % 32 == 7) mbarrier_arrive(empty + before * 8); }
    before = stage;
    if (stage + 1 < NUM_STAGES) stage++; else { stage = 0; parity = 1 - parity; }
  }
  wgmma_wait_group<0>();
