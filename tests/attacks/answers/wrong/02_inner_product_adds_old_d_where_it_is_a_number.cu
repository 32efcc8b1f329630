    for (int k = 0; k < BLOCK_K; k++) {
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    }
    if (k_tile == 0 && threadIdx.x == 0) { const float was = gmem_d[static_cast<size_t>(block_m) * N + block_n]; if (was == was) acc += was + 1.0f; }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
