  setmaxnreg_inc<CONSUMER_REGISTERS>();                       // and the multiplying one gets these
  int stage = 0, parity = 0;
  int before = 0;
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity)) {
    { uint32_t ok = 0; while (!ok) asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(ok) : "r"(full + stage * 8), "r"(parity) : "memory"); }
    multiply(stage, k_tile);
    wgmma_wait_group<1>();                                    // the products before these are done: free their buffer
    if (k_tile > 0 && threadIdx.x % 32 == 0) mbarrier_arrive(empty + before * 8);
    before = stage;
  }
  wgmma_wait_group<0>();
