  float scale[2];                                             // for this thread's two rows
  const auto fetch_scales = [&](int stage, int row, const float* of_b) {   // while the products run
    row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    const float* of_a = reinterpret_cast<const float*>(smem) + (scale_a - smem_a) / 4 + stage * BLOCK_M + row;
    scale[0] = of_a[0] * *of_b, scale[1] = of_a[8] * *of_b;
  };
