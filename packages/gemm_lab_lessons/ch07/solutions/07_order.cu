    cp_async_wait<0>();
    __syncthreads();
    if (k_tile + BLOCK_K < K) load(stage ^ 1);
