  float scale[2][PARTS];                                      // for this thread's two rows
  const float* of_b[PARTS];                                   // the scale of B for the next 128 of K
  const auto fetch_scales = [&](int stage) {                  // while the products run
    const int row = warpgroup * MMA_M + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    const float* of_a = static_cast<const float*>(__cvta_shared_to_generic(scale_a)) + stage * BLOCK_M + row;
    const float upper = of_a[0], lower = of_a[8];
    #pragma unroll
    for (int part = 0; part < PARTS; part++) {
      const float b = __ldg(of_b[part]++);
      scale[0][part] = upper * b, scale[1][part] = lower * b;
    }
  };
