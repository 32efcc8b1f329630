// a cache policy that createpolicy made, as CUTLASS uses it
  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;
  const auto copy = [&](int stage, int k_tile) {
    const uint32_t at = stage * STAGE_BYTES;
    uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    const auto load_hint = [&](uint32_t shared, const CUtensorMap& map, int x, int y) {
      asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;"
                   :: "r"(shared), "l"(&map), "r"(x), "r"(y), "r"(full + stage * 8), "l"(policy) : "memory");
    };
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES);
    load_hint(smem_a + at, map_a, k_tile, block_m);
    load_hint(smem_b + at, map_b, k_tile, block_n);
  };
