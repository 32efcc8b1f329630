  const auto store = [&](auto& part, int column, int buffer, int row, int block_n) {   // 64 columns
    const int lane = threadIdx.x % 32, staged_row = threadIdx.x % 128 / 32 * 16 + lane % 16;
    const uint32_t at = staged + (warpgroup * 2 + buffer) * STORE_BYTES;
    if (threadIdx.x % 128 == 0) tma_store_wait_read<1>();     // the store before last no longer reads this buffer,
    named_barrier_sync<128>(1 + warpgroup);                   // and the warpgroup waits for that
    #pragma unroll
    for (int chunk = 0; chunk < 8; chunk += 2) {              // two chunks, in the swizzle of map_d
      const auto &left = part[column / 8 + chunk], &right = part[column / 8 + chunk + 1];
      stmatrix_x4(at + staged_row * 128 + 16 * ((chunk + lane / 16) ^ staged_row % 8), bf16_pair(left[0], left[1]),
                  bf16_pair(left[2], left[3]), bf16_pair(right[0], right[1]), bf16_pair(right[2], right[3]));
    }
    fence_proxy_async();                                      // TMA sees what this thread has written,
    named_barrier_sync<128>(1 + warpgroup);                   // and one thread waits for the warpgroup
    if (threadIdx.x % 128 == 0) tma_store_2d(map_d, block_n + column, row, at), tma_store_commit();
  };
