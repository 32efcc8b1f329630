    if (warp == 0 && elect_one())
      for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity, NUM_STAGES)) {
        mbarrier_wait_parity(full + stage * 8, parity);       // the tile's bytes have come
        tcgen05_fence_after_thread_sync();
        multiply(tmem_acc, stage, k_tile);
        tcgen05_commit<1>(empty + stage * 8);                 // arrives there when these products are done
        if (k_tile + BLOCK_K == K) tcgen05_commit<1>(done);   // and here when the tile of D is
      }
    __syncwarp();
    mbarrier_wait_parity(done, done_parity);                  // four warps wait for the last product
    done_parity ^= 1;
    tcgen05_fence_after_thread_sync();
