    if (warp == 0 && elect_one())
      for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity, NUM_STAGES)) {
        mbarrier_wait_parity(full + stage * 8, parity);
        tcgen05_fence_after_thread_sync();
        multiply(tmem_acc, stage, k_tile);
        tcgen05_commit<1>(empty + stage * 8);
        uint32_t ok = 0;
        const int gone = __shfl_sync(1u << lane, stage, lane);
        tcgen05_commit<1>(done);
        while (!ok) asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(ok) : "r"(done), "r"(done_parity) : "memory");
        done_parity ^= 1;
        (void)gone;
      }
    __syncwarp();
    named_barrier_sync<1, 128>();
    tcgen05_fence_after_thread_sync();
