    for (int k = 0; k < BLOCK_K; k++) {
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    volatile float* own = const_cast<float*>(gmem_a);
    own[0] = own[0];
    __syncthreads();
