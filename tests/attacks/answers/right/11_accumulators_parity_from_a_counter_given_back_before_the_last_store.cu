
  int turn = 0;
  for (int index = blockIdx.x; index < tiles_m * tiles_n; index += gridDim.x, turn++) {
    const int buffer = turn & 1;
    mbarrier_wait_parity(acc_full + 8 * buffer, turn >> 1 & 1);
    tcgen05_fence_after_thread_sync();
    const auto t = place(index);
    __nv_bfloat16* row_d = gmem_d + (size_t)(t.m * BLOCK_M + threadIdx.x) * N + t.n * BLOCK_N;
    for (int column = 0; column < BLOCK_N; column += 32) {
      float part[32];
      tcgen05_ld_32x32b_x32(part, tmem_acc + buffer * BLOCK_N + (warp * 32 << 16) + column);
      tcgen05_wait_ld();
      if (column + 32 == BLOCK_N) {
        tcgen05_fence_before_thread_sync();
        __syncwarp();
        if (threadIdx.x % 32 == 0) mbarrier_arrive(acc_empty + 8 * buffer);
      }
      store_row(part, row_d + column);
    }
  }
