  constexpr uint32_t INSTRUCTION = tcgen05_instruction_descriptor_bf16(BLOCK_M, BLOCK_N);
  const auto multiply = [&](uint32_t tmem_acc, int stage, int k_tile) {
    const uint32_t at = smem_a + stage * STAGE_BYTES;
    bool add = k_tile != 0;
    for (int k2 = BLOCK_K / MMA_K; k2-- > 0; add = true)
      tcgen05_mma_f16<1>(tmem_acc, tcgen05_descriptor_k_major_128b(at + k2 * 32), tcgen05_descriptor_k_major_128b(at + STAGE_A + k2 * 32), INSTRUCTION, add);
  };
