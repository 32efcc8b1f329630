// two partial sums, of even and of odd k: a usual way to shorten the chain of additions
    float even = 0.0f, odd = 0.0f;
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += 2) {
      even = fmaf(smem_a[thread_m][k], smem_b[k][thread_n], even);
      odd = fmaf(smem_a[thread_m][k + 1], smem_b[k + 1][thread_n], odd);
    }
    acc += even + odd;
    __syncthreads();
