
  const half* pa = gmem_a + (size_t)(threadIdx.x / (BLOCK_K / 8)) * K + threadIdx.x % (BLOCK_K / 8) * 8;
  const half* pb = gmem_b + (size_t)(threadIdx.x / (BLOCK_N / 8)) * N + threadIdx.x % (BLOCK_N / 8) * 8;
  const ptrdiff_t step_a = (ptrdiff_t)(NUM_THREADS * 8 / BLOCK_K) * K, step_b = (ptrdiff_t)(NUM_THREADS * 8 / BLOCK_N) * N;
  auto fetch = [&](int) {
    const half *qa = pa, *qb = pb;
    #pragma unroll
    for (auto& v : next_a) v = __ldg((const uint4*)qa), qa += step_a;
    #pragma unroll
    for (auto& v : next_b) v = __ldg((const uint4*)qb), qb += step_b;
    pa += BLOCK_K, pb += (ptrdiff_t)BLOCK_K * N;
  };
