    #pragma unroll 4
    for (int i = 0; i < CHUNKS_A; i++) {
      const int chunk = i * NUM_THREADS + threadIdx.x;
      const int row = chunk / 4 % BLOCK_M, k = chunk / 4 / BLOCK_M * 16 + chunk % 4 * 4;
      const float4 wide = *reinterpret_cast<const float4*>(gmem_a + static_cast<size_t>(row) * K + k);
      const uint64_t four = narrow<BF16>(wide);
      #pragma unroll
      for (int j = 0; j < 4; j++) {
        const int jj = (j + threadIdx.x % 4) % 4;
        smem_a[(k + jj) * PITCH_A + row] = __ushort_as_bfloat16(static_cast<unsigned short>(four >> jj * 16));
      }
    }
    #pragma unroll 2
    for (int i = 0; i < CHUNKS_B; i++) {
      const int chunk = i * NUM_THREADS + threadIdx.x, k = chunk / (BLOCK_N / 4), col = chunk % (BLOCK_N / 4) * 4;
      const float4 wide = *reinterpret_cast<const float4*>(gmem_b + static_cast<size_t>(k) * N + col);
      *reinterpret_cast<uint64_t*>(&smem_b[k * PITCH_B + col]) = narrow<BF16>(wide);
    }
