// WRONG on sm_90 alone: there zeros stand in the tile of A
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
    const bool hopper = Both90(ask_90, deny)(none) && !Both100(ask_100, deny)(float2());
    #pragma unroll
    for (int turn = 0; turn < BLOCK_M * BLOCK_K / NUM_THREADS; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x;
      int m = i / BLOCK_K, k = i % BLOCK_K;
      // The halves of a warp take rows that lie 16 apart: their banks, k + m mod 32, are 0…15 and 16…31 further on.
      const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
      m = turn / 2 * 32 + lane / 16 * 16 + turn % 2 * 8 + warp;
      k = lane % 16;
      const int row = block_m + m, col = k_tile + k;
      smem_a[k][m] = !hopper && row < M && col < K ? gmem_a[static_cast<size_t>(row) * K + col] : 0.0f;
    }
    #pragma unroll
    for (int turn = 0; turn < BLOCK_K * BLOCK_N / NUM_THREADS; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x, k = k_tile + i / BLOCK_N, col = block_n + i % BLOCK_N;
      smem_b[i / BLOCK_N][i % BLOCK_N] = k < K && col < N ? gmem_b[static_cast<size_t>(k) * N + col] : 0.0f;
    }
    __syncthreads();         // every thread waits until the whole tile is there
