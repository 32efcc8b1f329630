// 03_shared_memory_tiles.cu: the block brings a tile of A and of B into shared memory and every thread reuses it.
// Extends 02_coalesced.cu: global memory is read once per block tile instead of once per multiply-add.
// D[M,N] = A[M,K] · B[K,N]   all row-major, FP32
// Any GPU, any size: elements beyond the edge are loaded as zero.   Notebook 02.
#include "config.cuh"        // BLOCK_M 32, BLOCK_N 32, BLOCK_K 32

constexpr int NUM_THREADS = BLOCK_M * BLOCK_N;

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const float* gmem_a, const float* gmem_b, float* gmem_d, int M, int N, int K) {
  // ---- Where this thread works ----
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  const int thread_m = threadIdx.x / BLOCK_N, thread_n = threadIdx.x % BLOCK_N;

  // ---- Shared memory ----
  __shared__ float smem_a[BLOCK_M][BLOCK_K];
  __shared__ float smem_b[BLOCK_K][BLOCK_N];
  float acc = 0.0f;

  // ---- Main loop ----
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: load
    for (int i = threadIdx.x; i < BLOCK_M * BLOCK_K; i += NUM_THREADS) {
      const int row = block_m + i / BLOCK_K, k = k_tile + i % BLOCK_K;
      smem_a[i / BLOCK_K][i % BLOCK_K] = row < M && k < K ? gmem_a[static_cast<size_t>(row) * K + k] : 0.0f;
    }
    for (int i = threadIdx.x; i < BLOCK_K * BLOCK_N; i += NUM_THREADS) {
      const int k = k_tile + i / BLOCK_N, col = block_n + i % BLOCK_N;
      smem_b[i / BLOCK_N][i % BLOCK_N] = k < K && col < N ? gmem_b[static_cast<size_t>(k) * N + col] : 0.0f;
    }
    __syncthreads();         // every thread waits until the whole tile is there
    // end region

    // region: multiply
    for (int k = 0; k < BLOCK_K; k++)
      acc += smem_a[thread_m][k] * smem_b[k][thread_n];
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
    // end region
  }

  // ---- Epilogue ----
  const int row = block_m + thread_m, col = block_n + thread_n;
  if (row < M && col < N) gmem_d[static_cast<size_t>(row) * N + col] = acc;
}
