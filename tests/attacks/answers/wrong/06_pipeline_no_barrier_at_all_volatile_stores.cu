
    const auto put = [&](uint4* to, const uint4& v) { asm volatile("st.volatile.shared.v4.u32 [%0], {%1,%2,%3,%4};" :: "r"(shared_address(to)), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory"); };
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      const int set = k / MMA_K % 2;
      if (k == BLOCK_K - MMA_K) stage ^= 1;
      load(set ^ 1, stage, (k + MMA_K) % BLOCK_K);
      if (k == 0 && k_tile + BLOCK_K < K) fetch();
      if (k == MMA_K) for (int i = 0; i < CHUNKS_A; i++) put(&smem_a[(stage ^ 1) * STAGE_A + to_a + i * NUM_THREADS], next_a[i]);
      if (k == 2 * MMA_K) for (int i = 0; i < CHUNKS_B; i++) put(&smem_b[(stage ^ 1) * STAGE_B + to_b + i * NUM_THREADS], next_b[i]);

      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++)
          mma_m16n8k8_f16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
    }
