  const auto multiply = [&](int k_tile) {
    wgmma_fence();
    #pragma unroll
    for (int mi = 0; mi < BLOCK_M / MMA_M; mi++) {
      #pragma unroll
      for (int k = BLOCK_K - MMA_K; k >= 0; k -= MMA_K)
        wgmma_m64k16_bf16(acc[mi], wgmma_descriptor(smem_a + mi * MMA_M * BLOCK_K * 2 + k * 2), wgmma_descriptor(smem_b + k * 2), k_tile > 0 || k < BLOCK_K - MMA_K);
    }
    wgmma_commit_group();
  };
