  __syncthreads();                                            // all warps are done: reuse the tiles
  uint4* const staged = smem_a + warp * (MMA_M * WARP_N / 8); // this warp's own (16, WARP_N)
  const size_t warp_at = static_cast<size_t>(block_m + warp_m) * N + block_n + warp_n;
  #pragma unroll
  for (int mi = 0; mi < WARP_M / MMA_M; mi++) {
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA_N; ni++)
      #pragma unroll
      for (int r = 0; r < 2; r++) {                           // row lane/4, then eight rows below
        int place = ni;
        place ^= lane / 4;                                    // the swizzle of B: row % 8, in both halves
        uint4& chunk = staged[(lane / 4 + r * 8) * (WARP_N / 8) + place];
        reinterpret_cast<uint32_t*>(&chunk)[lane % 4] = acc[mi][ni][r];
      }
    __syncwarp();                                             // the rows are complete
    #pragma unroll
    for (int i = 0; i < MMA_M * WARP_N / 8 / 32; i++) {
      const int row = (i * 32 + lane) / (WARP_N / 8), chunk = (i * 32 + lane) % (WARP_N / 8);
      const size_t at = warp_at + static_cast<size_t>(mi * MMA_M + row) * N + chunk * 8;
      int place = chunk;
      place ^= row % 8;
      uint4 sum = staged[row * (WARP_N / 8) + place];
      const uint4 old = *reinterpret_cast<const uint4*>(&gmem_c[at]);
      #pragma unroll
      for (int j = 0; j < 4; j++) {
        half2& s = reinterpret_cast<half2*>(&sum)[j];
        const float2 x = __half22float2(s), y = __half22float2(reinterpret_cast<const half2*>(&old)[j]);
        s = __floats2half2_rn(alpha * x.x + beta * y.x, alpha * x.y + beta * y.y);
      }
      *reinterpret_cast<uint4*>(&gmem_d[at]) = sum;
    }
    __syncwarp();                                             // all is read before the next 16 rows
  }
