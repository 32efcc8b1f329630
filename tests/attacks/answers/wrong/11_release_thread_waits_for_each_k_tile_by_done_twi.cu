    if (warp == 0 && elect_one())
      for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity, NUM_STAGES)) {
        mbarrier_wait_parity(full + stage * 8, parity);
        tcgen05_fence_after_thread_sync();
        multiply(tmem_acc, stage, k_tile);
        tcgen05_commit<1>(done);
        mbarrier_wait_parity(done, done_parity);
        done_parity ^= 1;
        mbarrier_arrive(empty + stage * 8);
      }
    __syncwarp();
    named_barrier_sync<1, 128>();
    tcgen05_fence_after_thread_sync();
