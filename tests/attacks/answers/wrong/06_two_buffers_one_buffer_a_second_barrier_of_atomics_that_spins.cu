
    { static __device__ unsigned come[4096];
      unsigned* c = &come[blockIdx.y * gridDim.x + blockIdx.x];
      __threadfence_block();
      const unsigned before = atomicAdd(c, 1u);
      const unsigned goal = (before / NUM_THREADS + 1) * NUM_THREADS;
      while (*(volatile unsigned*)c < goal) {}
      __threadfence_block(); }

    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) smem_a[to_a + i * NUM_THREADS] = next_a[i];
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) smem_b[to_b + i * NUM_THREADS] = next_b[i];
    stage = 0;
