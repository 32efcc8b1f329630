
    int k = 0;
    while (k < BLOCK_K) { acc = fmaf(smem_a[thread_m][k], smem_b[k][thread_n], acc), ++k; }
    asm volatile("barrier.sync 0;" ::: "memory");
