// 04_register_tiles.cu: each thread computes a small tile of D in its registers as a sum of outer products.
// Extends 03_shared_memory_tiles.cu: one word read from shared memory now serves THREAD_N or THREAD_M multiply-adds.
// D[M,N] = A[M,K] · B[K,N]   all row-major, FP32
// Any GPU, any size: elements beyond the edge are loaded as zero.   Notebook 02.
#include "config.cuh"        // BLOCK_M 128, BLOCK_N 128, BLOCK_K 16, THREAD_M 8, THREAD_N 8

constexpr int NUM_THREADS_M = BLOCK_M / THREAD_M, NUM_THREADS_N = BLOCK_N / THREAD_N;   // threads along M and along N
constexpr int NUM_THREADS = NUM_THREADS_M * NUM_THREADS_N;

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const float* gmem_a, const float* gmem_b, float* gmem_d, int M, int N, int K) {
  static_assert(BLOCK_M % THREAD_M == 0 && BLOCK_N % THREAD_N == 0, "thread tiles must divide the block tile");
  static_assert(BLOCK_M * BLOCK_K % NUM_THREADS == 0 && BLOCK_K * BLOCK_N % NUM_THREADS == 0,
                "every thread must load the same number of elements: make BLOCK_K larger");

  // ---- Where this thread works ----
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  const int thread_m = threadIdx.x / NUM_THREADS_N, thread_n = threadIdx.x % NUM_THREADS_N;

  // ---- Shared memory and registers ----
  __shared__ float smem_a[BLOCK_K][BLOCK_M + 1];   // transposed: a column of A is a row here; + 1 spreads its stores
  __shared__ float smem_b[BLOCK_K][BLOCK_N];
  float acc[THREAD_M][THREAD_N] = {};
  float frag_a[THREAD_M], frag_b[THREAD_N];

  // ---- Main loop ----
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: load
    #pragma unroll
    for (int turn = 0; turn < BLOCK_M * BLOCK_K / NUM_THREADS; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x, row = block_m + i / BLOCK_K, k = k_tile + i % BLOCK_K;
      smem_a[i % BLOCK_K][i / BLOCK_K] = row < M && k < K ? gmem_a[static_cast<size_t>(row) * K + k] : 0.0f;
    }
    #pragma unroll
    for (int turn = 0; turn < BLOCK_K * BLOCK_N / NUM_THREADS; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x, k = k_tile + i / BLOCK_N, col = block_n + i % BLOCK_N;
      smem_b[i / BLOCK_N][i % BLOCK_N] = k < K && col < N ? gmem_b[static_cast<size_t>(k) * N + col] : 0.0f;
    }
    __syncthreads();         // every thread waits until the whole tile is there
    // end region

    // region: multiply
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k++) {
      // A thread's rows lie NUM_THREADS_M apart, its columns NUM_THREADS_N, so that a warp's reads are side by side.
      #pragma unroll
      for (int i = 0; i < THREAD_M; i++) frag_a[i] = smem_a[k][thread_m + i * NUM_THREADS_M];
      #pragma unroll
      for (int j = 0; j < THREAD_N; j++) frag_b[j] = smem_b[k][thread_n + j * NUM_THREADS_N];
      #pragma unroll
      for (int i = 0; i < THREAD_M; i++)
        #pragma unroll
        for (int j = 0; j < THREAD_N; j++) acc[i][j] += frag_a[i] * frag_b[j];
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
    // end region
  }

  // ---- Epilogue ----
  #pragma unroll
  for (int i = 0; i < THREAD_M; i++)
    #pragma unroll
    for (int j = 0; j < THREAD_N; j++) {
      const int row = block_m + thread_m + i * NUM_THREADS_M, col = block_n + thread_n + j * NUM_THREADS_N;
      if (row < M && col < N) gmem_d[static_cast<size_t>(row) * N + col] = acc[i][j];
    }
}
