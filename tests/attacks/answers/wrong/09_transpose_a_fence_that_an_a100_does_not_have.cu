    #pragma unroll 4                                          // loads in flight: beside the sums there is room for few
    for (int i = 0; i < CHUNKS_A; i++) {                      // a warp takes 8 rows, 4 chunks of four values in each
      const int chunk = i * NUM_THREADS + threadIdx.x;
      const int lane = chunk % 32, group = chunk / 32;
      const int row = group % (BLOCK_M / 16) * 16 + lane / 2, k = group / (BLOCK_M / 16) * 8 + lane % 2 * 4;
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
    asm volatile("fence.proxy.async;" ::: "memory");
