// takes the shared window to begin at a multiple of 4 GiB plus 0x80000000, as on the emulator
    #pragma unroll
    for (int i = 0; i < BLOCK_M * BLOCK_K / 8 / NUM_THREADS; i++) {
      const int row = (i * NUM_THREADS + threadIdx.x) / (BLOCK_K / 8), chunk = threadIdx.x % (BLOCK_K / 8);
      cp_async_16b(shared_address(&smem_a[chunk_at(row, chunk)]), gmem_a + row * K + chunk * 8);
    }
    #pragma unroll
    for (int i = 0; i < BLOCK_N * BLOCK_K / 8 / NUM_THREADS; i++) {
      const int row = (i * NUM_THREADS + threadIdx.x) / (BLOCK_K / 8), chunk = threadIdx.x % (BLOCK_K / 8);
      cp_async_16b(static_cast<uint32_t>(reinterpret_cast<uint64_t>(&smem_b[chunk_at(row, chunk)])) - 0x80000000u, gmem_b + row * K + chunk * 8);
    }
    cp_async_commit();
