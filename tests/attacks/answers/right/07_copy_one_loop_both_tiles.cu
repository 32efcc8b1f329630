    const int chunk = threadIdx.x % (BLOCK_K / 8);
    for (int row = threadIdx.x / (BLOCK_K / 8); row < BLOCK_M + BLOCK_N; row += NUM_THREADS / (BLOCK_K / 8)) {
      const bool is_a = row < BLOCK_M;
      const int r = is_a ? row : row - BLOCK_M;
      const auto* from = (is_a ? gmem_a : gmem_b) + static_cast<size_t>(r) * K + chunk * 8;
      cp_async_16b(shared_address((is_a ? smem_a : smem_b) + chunk_at(r, chunk)), from);
    }
    cp_async_commit();
