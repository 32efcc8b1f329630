
  const auto get = [](const half* p) { uint4 v; asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p)); return v; };
  auto fetch = [&](const int at) {
    int i = 0;
    #pragma unroll
    for (auto& to : next_a) { const int t = i++ * NUM_THREADS + threadIdx.x; to = get(&gmem_a[(size_t)(t >> 3) * K + at + (t & 7) * 8]); }
    i = 0;
    #pragma unroll
    for (auto& to : next_b) { const int t = i++ * NUM_THREADS + threadIdx.x; to = get(&gmem_b[(size_t)(at + t / (BLOCK_N / 8)) * N + t % (BLOCK_N / 8) * 8]); }
  };
