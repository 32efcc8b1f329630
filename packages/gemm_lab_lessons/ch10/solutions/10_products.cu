  const auto multiply = [&](int k_tile) {                     // issues the products and returns
    const uint64_t tile_a = wgmma_descriptor(smem_a), tile_b = wgmma_descriptor(smem_b);
    wgmma_fence();                                            // what the threads did with acc comes before
    #pragma unroll
    for (int k = 0; k < BLOCK_K / MMA_K; k++) {
      #pragma unroll
      for (int mi = 0; mi < BLOCK_M / MMA_M; mi++) {
        // 16 values of k are 32 bytes, 64 rows are 64 * 128 bytes, and a descriptor counts in 16
        wgmma_m64k16_bf16(acc[mi], tile_a + k * 2 + mi * 512, tile_b + k * 2, k_tile > 0 || k > 0);
      }
    }
    wgmma_commit_group();
  };
