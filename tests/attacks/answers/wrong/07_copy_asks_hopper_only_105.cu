// WRONG on sm_90 alone: generic lambdas ask what is declared; there B's tile is copied from A
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
    constexpr bool hopper = sizeof(Both90(ask_90, deny)) > 0;
    float2* const none = nullptr;
    bool newer = false;
    if constexpr (true) { newer = Both90(ask_90, deny)(none) && !Both100(ask_100, deny)(float2()); }
    #pragma unroll
    for (int i = 0; i < BLOCK_M * BLOCK_K / 8 / NUM_THREADS; i++) {
      const int row = (i * NUM_THREADS + threadIdx.x) / (BLOCK_K / 8), chunk = threadIdx.x % (BLOCK_K / 8);
      cp_async_16b(shared_address(&smem_a[chunk_at(row, chunk)]), gmem_a + row * K + chunk * 8);
    }
    #pragma unroll
    for (int i = 0; i < BLOCK_N * BLOCK_K / 8 / NUM_THREADS; i++) {
      const int row = (i * NUM_THREADS + threadIdx.x) / (BLOCK_K / 8), chunk = threadIdx.x % (BLOCK_K / 8);
      cp_async_16b(shared_address(&smem_b[chunk_at(row, chunk)]), (newer ? gmem_a : gmem_b) + row * K + chunk * 8);
    }
    cp_async_commit();
