  constexpr uint32_t INSTRUCTION = tcgen05_instruction_descriptor_bf16(BLOCK_M, BLOCK_N);
  const auto multiply = [&](uint32_t tmem_acc, int stage, int k_tile) {   // one thread multiplies
    const uint64_t tile_a = tcgen05_descriptor_k_major_128b(smem_a + stage * STAGE_BYTES);
    const uint64_t tile_b = tcgen05_descriptor_k_major_128b(smem_b + stage * STAGE_BYTES);
    #pragma unroll
    for (int k2 = 0; k2 < BLOCK_K / MMA_K; k2++) {
      const bool accumulate = k_tile > 0 || k2 > 0;           // the first product of a tile of D replaces what is there
      tcgen05_mma_f16<1>(tmem_acc, tile_a + k2 * 32 / 16, tile_b + k2 * 32 / 16, INSTRUCTION, accumulate);
    }
  };
