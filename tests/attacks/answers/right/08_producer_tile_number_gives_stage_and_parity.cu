
  if (warp >= NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (warp == NUM_CONSUMERS && lane == 0) {
      const unsigned tiles = K / BLOCK_K;
      for (unsigned t = 0; t != tiles; ++t) {
        const unsigned stage = t % NUM_STAGES, round = t / NUM_STAGES;
        if (round > 0) while (!mbarrier_try_wait_parity(empty + stage * 8, (round - 1) & 1)) __nanosleep(20);
        copy(stage, t * BLOCK_K);
      }
    }
    return;
  }
