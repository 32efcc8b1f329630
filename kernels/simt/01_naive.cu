// 01_naive.cu: one thread computes one element of D and reads everything it needs from global memory.
// The first rung.
// D[M,N] = A[M,K] · B[K,N]   all row-major, FP32
// Any GPU, any size.   Notebook 02.
#include "config.cuh"        // BLOCK_M 32, BLOCK_N 32

constexpr int NUM_THREADS = BLOCK_M * BLOCK_N;

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const float* gmem_a, const float* gmem_b, float* gmem_d, int M, int N, int K) {
  // ---- Where this thread works ----
  // region: place
  const int row = blockIdx.y * BLOCK_M + threadIdx.x % BLOCK_M;   // the next thread: the next row
  const int col = blockIdx.x * BLOCK_N + threadIdx.x / BLOCK_M;
  // end region
  if (row >= M || col >= N) return;

  // ---- Main loop ----
  // region: multiply
  float acc = 0.0f;
  for (int k = 0; k < K; k++)
    acc += gmem_a[static_cast<size_t>(row) * K + k] * gmem_b[static_cast<size_t>(k) * N + col];
  // end region

  // ---- Epilogue ----
  gmem_d[static_cast<size_t>(row) * N + col] = acc;
}
