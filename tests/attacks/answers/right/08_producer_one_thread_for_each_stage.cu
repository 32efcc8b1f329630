  if (warp >= NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();                     // registers come by warpgroup: these four need few,
    const int mine = threadIdx.x - NUM_CONSUMERS * 32;
    if (mine < NUM_STAGES) {
      int parity = 1;                                         // a fresh barrier lets parity 1 pass: buffers are free
      for (int k_tile = mine * BLOCK_K, stage = mine; k_tile < K; k_tile += NUM_STAGES * BLOCK_K) {
        mbarrier_wait_parity(empty + stage * 8, parity);
        copy(stage, k_tile);
        parity ^= 1;
      }
    }
    return;
  }
