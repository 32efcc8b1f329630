    decltype(acc + 1.0f) sum = acc;
    auto step = [&](const int k) noexcept -> decltype(acc) { return smem_a[thread_m][k] * smem_b[k][thread_n]; };
    #pragma nounroll
    for (int k = 0; k != BLOCK_K; ++k) sum = sum + step(k);
    acc = sum;
    __syncthreads();
