  const auto fetch = [&, rows_a = NUM_THREADS * 8 / BLOCK_K](const int at) -> void {
    const uint4* from = reinterpret_cast<const uint4*>(gmem_a + size_t(threadIdx.x / (BLOCK_K / 8)) * K + at) + threadIdx.x % (BLOCK_K / 8);
    #pragma unroll
    for (auto& chunk : next_a) { chunk = __ldg(from); from += size_t(rows_a) * K / 8; }
    from = reinterpret_cast<const uint4*>(gmem_b + size_t(at + threadIdx.x / (BLOCK_N / 8)) * N) + threadIdx.x % (BLOCK_N / 8);
    #pragma unroll
    for (auto& chunk : next_b) { chunk = __ldg(from); from += size_t(NUM_THREADS * 8 / BLOCK_N) * N / 8; }
  };
