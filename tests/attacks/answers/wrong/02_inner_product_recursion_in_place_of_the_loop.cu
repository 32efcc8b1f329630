    struct Sum {
      static __device__ __attribute__((noinline)) float of(const float* row, const float* column, int k) {
        return k == BLOCK_K ? 0.0f : row[k] * column[k * BLOCK_N] + of(row, column, k + 1);
      }
    };
    acc += Sum::of(&smem_a[thread_m][0], &smem_b[0][thread_n], 0);
    __syncthreads();
