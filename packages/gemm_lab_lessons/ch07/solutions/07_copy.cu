    #pragma unroll
    for (int i = 0; i < BLOCK_M * BLOCK_K / 8 / NUM_THREADS; i++) {
      const int row = (i * NUM_THREADS + threadIdx.x) / (BLOCK_K / 8), chunk = threadIdx.x % (BLOCK_K / 8);
      cp_async_16b(shared_address(&smem_a[chunk_at(row, chunk)]), gmem_a + row * K + chunk * 8);
    }
    #pragma unroll
    for (int i = 0; i < BLOCK_N * BLOCK_K / 8 / NUM_THREADS; i++) {
      const int row = (i * NUM_THREADS + threadIdx.x) / (BLOCK_K / 8), chunk = threadIdx.x % (BLOCK_K / 8);
      cp_async_16b(shared_address(&smem_b[chunk_at(row, chunk)]), gmem_b + row * K + chunk * 8);
    }
    cp_async_commit();
