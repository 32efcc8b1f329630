    #pragma unroll 4                                          // few loads: registers hold the sums
    for (int i = 0; i < CHUNKS_A; i++) {
      const int chunk = i * NUM_THREADS + threadIdx.x;
      int row = chunk / 4 % BLOCK_M, k = chunk / 4 / BLOCK_M * 16 + chunk % 4 * 4;
      row = chunk / 2 % BLOCK_M;                              // a warp takes 16 rows,
      k = chunk / 2 / BLOCK_M * 8 + chunk % 2 * 4;            // 2 chunks of four values in each
      const float4 wide = *reinterpret_cast<const float4*>(gmem_a + static_cast<size_t>(row) * K + k);
      const uint64_t four = narrow<BF16>(wide);
      #pragma unroll
      for (int j = 0; j < 4; j++)
        smem_a[(k + j) * PITCH_A + row] = reinterpret_cast<const element*>(&four)[j];
    }
    #pragma unroll 2
    for (int i = 0; i < CHUNKS_B; i++) {
      const int chunk = i * NUM_THREADS + threadIdx.x, k = chunk / (BLOCK_N / 4), col = chunk % (BLOCK_N / 4) * 4;
      const float4 wide = *reinterpret_cast<const float4*>(gmem_b + static_cast<size_t>(k) * N + col);
      *reinterpret_cast<uint64_t*>(&smem_b[k * PITCH_B + col]) = narrow<BF16>(wide);
    }
