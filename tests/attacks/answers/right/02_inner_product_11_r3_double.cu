// the sum of a tile in double
    double sum = acc;
    for (int k = 0; k < BLOCK_K; k++) sum = fma(static_cast<double>(smem_a[thread_m][k]), static_cast<double>(smem_b[k][thread_n]), sum);
    acc = static_cast<float>(sum);
    __syncthreads();
