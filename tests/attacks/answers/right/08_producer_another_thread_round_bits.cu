  if (warp >= NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();
    if (warp == NUM_CONSUMERS + 3 && lane == 17) {
      const int tiles = (K + BLOCK_K - 1) / BLOCK_K;
      int tile = 0;
      while (tile < tiles) {
        const int round = tile / NUM_STAGES, slot = tile - round * NUM_STAGES;
        if (round > 0) while (!mbarrier_try_wait_parity(empty + slot * 8, ~round & 1)) {}
        copy(slot, tile * BLOCK_K);
        ++tile;
      }
    }
    return;
  }
