  constexpr uint32_t INSTRUCTION = tcgen05_instruction_descriptor_bf16(BLOCK_M, BLOCK_N);
  const auto multiply = [&](uint32_t tmem_acc, int stage, int k_tile) {   // one thread: issues the products, returns
    const uint64_t tile_a = tcgen05_descriptor_k_major_128b(smem_a + stage * STAGE_BYTES);
    const uint64_t tile_b = tcgen05_descriptor_k_major_128b(smem_b + stage * STAGE_BYTES);
    #pragma unroll
    for (int k2 = 0; k2 < BLOCK_K / MMA_K; k2++) {
      const bool accumulate = k_tile > 0 || k2 > 0;           // the first product of a tile of D replaces what is there
      if (k2 < 2) asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\ttcgen05.mma.cta_group::1.kind::f16.collector::a::fill [%0], %1, %2, %3, p;\n\t}" :: "r"(tmem_acc), "l"(tile_a + k2 * 2), "l"(tile_b + k2 * 2), "r"(INSTRUCTION), "r"(int(accumulate)) : "memory");
      else asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.b32 p, %4, 0;\n\ttcgen05.mma.cta_group::1.kind::f16.collector::a::lastuse [%0], %1, %2, %3, p;\n\t}" :: "r"(tmem_acc), "l"(tile_a + k2 * 2), "l"(tile_b + k2 * 2), "r"(INSTRUCTION), "r"(int(accumulate)) : "memory");
    }
  };
