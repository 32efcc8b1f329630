// 01_wgmma.cu: four warps multiply together, and the tensor cores read A and B from swizzled shared memory themselves.
// The first rung.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// H100, H200.   Notebook 10.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 128, BLOCK_N 128, BLOCK_K 64
#include "ptx/cp_async.cuh"
#include "ptx/fence_proxy.cuh"
#include "ptx/wgmma.cuh"
#include "tile/warpgroup_epilogue.cuh"

constexpr int NUM_THREADS = 128;                              // one warpgroup
constexpr int MMA_M = 64, MMA_K = 16;                         // wgmma is BLOCK_N wide
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N * BLOCK_K * 2;   // bytes of a tile
constexpr int SMEM_BYTES = STAGE_A + STAGE_B;

// region: layout
// Where 16-byte chunk (row, chunk) of a tile lies, in bytes: the 128-byte swizzle that the descriptors name.
__device__ __forceinline__ int bytes_at(int row, int chunk) { return row * BLOCK_K * 2 + 16 * (chunk ^ row % 8); }
// end region

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const __nv_bfloat16* gmem_a, const __nv_bfloat16* gmem_b, __nv_bfloat16* gmem_d, int M, int N, int K) {
  static_assert(BLOCK_K == 64 && BLOCK_M % MMA_M == 0, "rows of 128 bytes; wgmma takes 64 rows of A");

  // ---- Where this block works ----
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  gmem_a += static_cast<size_t>(block_m) * K;                 // the block's BLOCK_M rows of A
  gmem_b += static_cast<size_t>(block_n) * K;                 // the block's BLOCK_N columns of B, stored as rows

  // ---- Shared memory and accumulators ----
  extern __shared__ __align__(1024) uint4 smem[];             // (BLOCK_M, BLOCK_K), (BLOCK_N, BLOCK_K)
  const uint32_t smem_a = __cvta_generic_to_shared(smem), smem_b = smem_a + STAGE_A;
  float acc[BLOCK_M / MMA_M][BLOCK_N / 8][4];                 // no fragments of A and B: wgmma needs none

  // region: multiply
  const auto multiply = [&](int k_tile) {                     // issues the products and returns
    const uint64_t tile_a = wgmma_descriptor(smem_a), tile_b = wgmma_descriptor(smem_b);
    wgmma_fence();                                            // what the threads did with acc comes before
    #pragma unroll
    for (int k = 0; k < BLOCK_K / MMA_K; k++)                 // MMA_K values are 32 bytes; a descriptor counts in 16
      #pragma unroll
      for (int mi = 0; mi < BLOCK_M / MMA_M; mi++)            // 64 rows are 64 · 128 bytes; the first product replaces
        wgmma_m64k16_bf16(acc[mi], tile_a + k * 2 + mi * 512, tile_b + k * 2, k_tile > 0 || k > 0);
    wgmma_commit_group();
  };
  // end region

  // ---- Main loop ----
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: load
    #pragma unroll
    for (int i = 0; i < (BLOCK_M + BLOCK_N) * 8 / NUM_THREADS; i++) {   // eight chunks a row
      const int row = i * NUM_THREADS / 8 + threadIdx.x / 8, chunk = threadIdx.x % 8;
      const __nv_bfloat16* from = row < BLOCK_M ? gmem_a + static_cast<size_t>(row) * K
                                                : gmem_b + static_cast<size_t>(row - BLOCK_M) * K;
      cp_async_16b(smem_a + bytes_at(row, chunk), from + k_tile + chunk * 8);   // B's rows follow A's
    }
    cp_async_commit();
    // end region
    cp_async_wait<0>();                                       // a thread waits for its own copies,
    fence_proxy_async();                                      // lets the tensor cores see them,
    __syncthreads();                                          // and waits for every other thread's
    multiply(k_tile);
    wgmma_wait_group<0>();
    __syncthreads();                                          // the next tile's copies wait for every warp's products
  }

  // ---- Epilogue ----
  // region: epilogue
  store_warpgroup(acc, gmem_d + static_cast<size_t>(block_m) * N + block_n, N);
  // end region
}
