    #pragma unroll
    for (int k = 0; k < BLOCK_K; k++) {
      // Four rows of a thread are neighbours; the next four begin 4 * LANES_M further, behind those of the other lanes.
      #pragma unroll
      for (int i = 0; i < THREAD_M; i += 4)
        *reinterpret_cast<float4*>(&frag_a[i]) = *reinterpret_cast<float4*>(&smem_a[k][thread_m + i * LANES_M]);
      #pragma unroll
      for (int j = 0; j < THREAD_N; j += 4)
        *reinterpret_cast<float4*>(&frag_b[j]) = *reinterpret_cast<float4*>(&smem_b[k][thread_n + j * LANES_N]);
      #pragma unroll
      for (int i = 0; i < THREAD_M; i++)
        #pragma unroll
        for (int j = 0; j < THREAD_N; j++) acc[i][j] += frag_a[i] * frag_b[j];
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
