
    const auto products = [&](int set) {
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++) mma_m16n8k8_f16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
    };
    const bool more = k_tile + BLOCK_K < K;
    load(1, stage, 8);
    if (more) fetch();
    products(0);
    load(0, stage, 16);
    products(1);
    load(1, stage, 24);
    if (more) { store_a(stage ^ 1); store_b(stage ^ 1); }
    products(0);
    __syncthreads();
    stage = 1 - stage;
    if (more) load(0, stage, 0);
    products(1);
