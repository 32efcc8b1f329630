  int buffer = 0, buffer_parity = 0;
  for (int index = blockIdx.x; index < tiles_m * tiles_n; index += gridDim.x) {
    mbarrier_wait_parity(acc_full + buffer * 8, buffer_parity);   // the tile's last product
    tcgen05_fence_after_thread_sync();
    const Tile tile = place(index);
    const size_t row = tile.m * BLOCK_M + warp * 32 + lane;   // warp w: lanes 32 w to 32 w + 31
    __nv_bfloat16* const row_d = gmem_d + row * N + tile.n * BLOCK_N;
    for (int column = 0; column < BLOCK_N; column += 32) {
      float acc[32];
      tcgen05_ld_32x32b_x32(acc, tmem_acc + buffer * BLOCK_N + (warp * 32 << 16) + column);
      tcgen05_wait_ld();
      store_row(acc, row_d + column);
    }
    tcgen05_fence_before_thread_sync();
    __syncwarp();                                             // all lanes have what they loaded
    if (lane == 0) mbarrier_arrive(acc_empty + buffer * 8);   // the tile after next may overwrite it
    advance(buffer, buffer_parity, 2);
  }
