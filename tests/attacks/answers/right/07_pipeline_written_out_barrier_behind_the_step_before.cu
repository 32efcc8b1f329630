
    const auto products = [&](int set) {
      for (int mi = 0; mi < WARP_M / MMA_M; mi++) for (int ni = 0; ni < WARP_N / MMA_N; ni++) mma_m16n8k16_bf16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
    };
    load(1, stage, 16); copy(last); products(0);
    load(0, stage, 32); products(1);
    load(1, stage, 48); products(0);
    cp_async_wait<NUM_STAGES - 2>(); __syncthreads();
    last = stage; stage = (stage + STAGE_BYTES) % (NUM_STAGES * STAGE_BYTES);
    if (k_tile + BLOCK_K < K) load(0, stage, 0);
    products(1);
