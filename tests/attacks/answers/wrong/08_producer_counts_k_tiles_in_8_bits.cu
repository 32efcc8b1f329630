  if (warp >= NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();                     // registers come by warpgroup: these four need few,
    if (threadIdx.x == NUM_CONSUMERS * 32) {
      uint8_t tile = 0;                                       // 256 tiles, then it wraps: 256 is no multiple of 3
      for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, tile++) {
        const int stage = tile % NUM_STAGES, parity = tile / NUM_STAGES % 2 ^ 1;
        mbarrier_wait_parity(empty + stage * 8, parity);
        copy(stage, k_tile);
      }
    }
    return;
  }
