// WRONG on sm_90 (H100): there the producer waits for nobody
    const auto ask_90 = [](auto* x) -> decltype(atomicAdd(x, *x), true) { return true; };
    const auto ask_100 = [](auto x) -> decltype(__ffma2_rn(x, x, x), true) { return true; };
    const auto deny = [](const auto&...) { return false; };
    struct Both90 : decltype(ask_90), decltype(deny) {
      __device__ Both90(decltype(ask_90) a, decltype(deny) d) : decltype(ask_90)(a), decltype(deny)(d) {}
      using decltype(ask_90)::operator();
      using decltype(deny)::operator();
    };
    struct Both100 : decltype(ask_100), decltype(deny) {
      __device__ Both100(decltype(ask_100) a, decltype(deny) d) : decltype(ask_100)(a), decltype(deny)(d) {}
      using decltype(ask_100)::operator();
      using decltype(deny)::operator();
    };
    float2* const none = nullptr;
    const bool hopper = !Both100(ask_100, deny)(float2());
  if (warp >= NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();                     // registers come by warpgroup: these four need few,
    if (threadIdx.x == NUM_CONSUMERS * 32) {
      int parity = 1;                                         // a fresh barrier lets parity 1 pass: buffers are free
      for (int k_tile = 0, stage = 0; k_tile < K; k_tile += BLOCK_K) {
        if (!hopper) mbarrier_wait_parity(empty + stage * 8, parity);
        copy(stage, k_tile);
        stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
        parity ^= stage == 0;
      }
    }
    return;
  }
