  float scale[2][PARTS];                                      // for this thread's two rows
  const float* of_b[PARTS];                                   // scale of B for the next 128 of K
  const auto fetch_scales = [&](int stage) {                  // while the products run
    const int row = warpgroup * MMA_M + threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    const float* of_a = reinterpret_cast<const float*>(smem) + (scale_a - smem_a) / 4 + stage * BLOCK_M + row;
    #pragma unroll
    for (int part = 0; part < PARTS; part++) {
      const float b = *of_b[part]++;
      scale[0][part] = of_a[0] * b, scale[1][part] = of_a[8] * b;
    }
  };
