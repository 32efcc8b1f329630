// Stone 1: every thread adds up its elements in a loop over k. It is right, and slow.
// Launch: lab.kernel("hopper/01", BLOCK_M=64, BLOCK_N=64)
#include <cuda_bf16.h>
#include "config.cuh"

constexpr int NUM_THREADS = 256;

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* d, int M, int N, int K) {
  for (int i = threadIdx.x; i < BLOCK_M * BLOCK_N; i += NUM_THREADS) {
    const int row = blockIdx.y * BLOCK_M + i / BLOCK_N, col = blockIdx.x * BLOCK_N + i % BLOCK_N;
    float sum = 0;
    for (int k = 0; k < K; k++)
      sum += __bfloat162float(a[row * K + k]) * __bfloat162float(b[col * K + k]);
    d[row * N + col] = __float2bfloat16(sum);
  }
}
