    if (warp == 0)
      for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity, NUM_STAGES)) {
        if (elect_one()) {
          mbarrier_wait_parity(full + stage * 8, parity);
          tcgen05_fence_after_thread_sync();
          multiply(tmem_acc, stage, k_tile);
        }
        __syncwarp();
        if (lane == 0) {
          tcgen05_commit<1>(empty + stage * 8);
          if (k_tile + BLOCK_K == K) tcgen05_commit<1>(done);
        }
      }
    __syncwarp();
    mbarrier_wait_parity(done, done_parity);
    done_parity ^= 1;
    tcgen05_fence_after_thread_sync();
