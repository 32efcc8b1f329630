  if (warp >= NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();                     // the producing warpgroup needs few,
    if (threadIdx.x == NUM_CONSUMERS * 32) {
      int parity = 1;                                         // a fresh barrier lets parity 1 pass: buffers are free
      for (int k_tile = 0, stage = 0; k_tile < K; k_tile += BLOCK_K) {
        mbarrier_wait_parity(empty + stage * 8, parity);
        copy(stage, k_tile);
        stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
        parity ^= stage == 0;
      }
    }
    return;
  }
