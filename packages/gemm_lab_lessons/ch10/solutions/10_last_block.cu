  if (splits > 1) {
    float4 (&sums)[FRAGMENTS] = reinterpret_cast<float4 (&)[FRAGMENTS]>(acc);
    const int tile = blockIdx.y * gridDim.x + blockIdx.x;
    float4 (*const slot)[FRAGMENTS][NUM_THREADS] = &workspace[tile * splits];   // this tile's first
    #pragma unroll
    for (int i = 0; i < FRAGMENTS; i++) slot[split][i][threadIdx.x] = sums[i];
    __threadfence();                                          // whoever sees the count also sees this thread's sums,
    __syncthreads();                                          // and only when all threads have written does one count
    __shared__ bool is_last;
    if (threadIdx.x == 0) is_last = atomicInc(&arrived[tile], splits - 1) == splits - 1;   // back to 0 after the last
    __syncthreads();                                          // everyone waits for the answer
    if (!is_last) return;
    __threadfence();                                          // the reads below come after the count
    #pragma unroll
    for (int i = 0; i < FRAGMENTS; i++) sums[i] = __ldcg(&slot[0][i][threadIdx.x]);
    for (int s = 1; s < splits; s++)                          // always in this order: D is the same
      #pragma unroll
      for (int i = 0; i < FRAGMENTS; i++) {
        const float4 part = __ldcg(&slot[s][i][threadIdx.x]);
        sums[i].x += part.x, sums[i].y += part.y, sums[i].z += part.z, sums[i].w += part.w;
      }
  }
