// WRONG on sm_90 (H100): there B's tile is that of A's coordinates
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
  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;    // [NUM_STAGES] mbarriers of 8 bytes
  const auto copy = [&](int stage, int k_tile) {              // one thread: asks for both tiles and returns
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // this phase ends when so many bytes have come
    tma_load_2d(smem_a + at, map_a, k_tile, block_m, full + stage * 8);
    tma_load_2d(smem_b + at, map_b, k_tile, hopper ? 0 : block_n, full + stage * 8);
  };
