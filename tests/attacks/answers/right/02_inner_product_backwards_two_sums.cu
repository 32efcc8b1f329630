    float even = 0, odd = 0;
    for (int left = BLOCK_K; left > 0; left -= 2) {
      odd = fmaf(smem_a[thread_m][left - 1], smem_b[left - 1][thread_n], odd);
      even = fmaf(smem_a[thread_m][left - 2], smem_b[left - 2][thread_n], even);
    }
    acc += even + odd;
    asm volatile("barrier.sync 0;" ::: "memory");
