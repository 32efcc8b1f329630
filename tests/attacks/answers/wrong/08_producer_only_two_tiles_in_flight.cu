  if (warp >= NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (threadIdx.x == NUM_CONSUMERS * 32) {
      int from = 0, from_parity = 0;
      for (int k_tile = 0, stage = 0; k_tile < K; k_tile += BLOCK_K) {
        if (k_tile >= 2 * BLOCK_K) {
          mbarrier_wait_parity(empty + from * 8, from_parity);
          from = from == NUM_STAGES - 1 ? 0 : from + 1;
          from_parity ^= from == 0;
        }
        copy(stage, k_tile);
        stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
      }
    }
    return;
  }
