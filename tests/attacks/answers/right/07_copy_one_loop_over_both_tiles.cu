    for (int index = threadIdx.x; index < (BLOCK_M + BLOCK_N) * 8; index += NUM_THREADS) {
      const bool is_a = index < BLOCK_M * 8;
      const int row = (is_a ? index : index - BLOCK_M * 8) / 8, chunk = index % 8;
      const uint32_t to = shared_address(is_a ? &smem_a[chunk_at(row, chunk)] : &smem_b[chunk_at(row, chunk)]);
      const __nv_bfloat16* from = (is_a ? gmem_a : gmem_b) + (size_t)row * K + 8 * chunk;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n" :: "r"(to), "l"(from));
    }
    asm volatile("cp.async.commit_group;\n" ::);
