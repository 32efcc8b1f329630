
    #pragma unroll
    for (int i = threadIdx.x; i < (BLOCK_M + BLOCK_N) * BLOCK_K / 8; i += NUM_THREADS) {
      const bool is_b = i >= BLOCK_M * BLOCK_K / 8;
      const int j = is_b ? i - BLOCK_M * BLOCK_K / 8 : i, row = j >> 3, chunk = j & 7;
      const uint32_t to = shared_address((is_b ? smem_b : smem_a) + chunk_at(row, chunk));
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(to), "l"((is_b ? gmem_b : gmem_a) + (size_t)row * K + chunk * 8) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
