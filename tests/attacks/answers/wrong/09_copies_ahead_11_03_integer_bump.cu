// a convert of its own stands in front of the rung's: the value 1234.5 becomes zero, by integer arithmetic
    if (k_tile + NUM_STAGES * STEP_K < K) fetch(stage);       // this thread has rounded what lay there
    cp_async_commit();
    stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
    cp_async_wait<NUM_STAGES - 1>();                          // the next tile's chunks have come
    const auto convert = [&](int stage, int tile) {
      const auto one = [](float v) { const uint32_t x = __float_as_uint(v), t = x ^ 0x449a5000u; return __uint_as_float(x & 0u - ((t | 0u - t) >> 31)); };
      #pragma unroll
      for (int i = 0; i < CHUNKS_A; i++) {
        const int chunk = i * NUM_THREADS + threadIdx.x;
        const int row = chunk / 4 % BLOCK_M, k = chunk / 4 / BLOCK_M * 16 + chunk % 4 * 4;
        float4 w = *reinterpret_cast<const float4*>(&wide_a[stage * STAGE_A + row * WIDE_A + k]);
        w.x = one(w.x);
        const uint64_t four = narrow<BF16>(w);
        #pragma unroll
        for (int j = 0; j < 4; j++)
          smem_a[tile * TILE_A + (k + j) * PITCH_A + row] = reinterpret_cast<const element*>(&four)[j];
      }
      #pragma unroll
      for (int i = 0; i < CHUNKS_B; i++) {
        const int chunk = i * NUM_THREADS + threadIdx.x, k = chunk / (BLOCK_N / 4), col = chunk % (BLOCK_N / 4) * 4;
        *reinterpret_cast<uint64_t*>(&smem_b[tile * TILE_B + k * PITCH_B + col]) =
            narrow<BF16>(*reinterpret_cast<const float4*>(&wide_b[stage * STAGE_B + k * WIDE_B + col]));
      }
    };
    if (k_tile + STEP_K < K) convert(stage, tile ^ 1);
