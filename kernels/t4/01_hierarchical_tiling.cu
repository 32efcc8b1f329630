// 01_hierarchical_tiling.cu: block tiles in shared memory, warp tiles in registers, mma tiles on the tensor cores.
// Extends simt/04_register_tiles.cu: a warp's outer product becomes mma.sync, and its operands come by ldmatrix.
// D[M,N] = alpha · A[M,K] · B[K,N] + beta · C[M,N]   all row-major, FP16, FP16 accumulate
// T4 and everything after it.   Notebook 06.
#include <cuda_fp16.h>
#include "config.cuh"        // BLOCK_M 256, BLOCK_N 128, BLOCK_K 64, NUM_WARPS_M 4, NUM_WARPS_N 2
#include "ptx/ldmatrix.cuh"
#include "ptx/mma_sync.cuh"

constexpr int NUM_THREADS = NUM_WARPS_M * NUM_WARPS_N * 32;
constexpr int WARP_M = BLOCK_M / NUM_WARPS_M, WARP_N = BLOCK_N / NUM_WARPS_N;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 8;

// region: layout
// Where 16-byte chunk (row, chunk) of a tile lies in shared memory, counted in chunks.
__device__ __forceinline__ int chunk_a(int row, int chunk) { return row * (BLOCK_K / 8) + chunk; }
__device__ __forceinline__ int chunk_b(int row, int chunk) { return row * (BLOCK_N / 8) + chunk; }
// end region

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const half* gmem_a, const half* gmem_b, const half* gmem_c, half* gmem_d,
     int M, int N, int K, float alpha, float beta) {
  static_assert(WARP_M % (2 * MMA_M) == 0, "WARP_M must be a multiple of 32: ldmatrix.x4 fills two mma tiles of A");
  static_assert(WARP_N % (4 * MMA_N) == 0, "WARP_N must be a multiple of 32: ldmatrix.x4 fills four mma tiles of B");
  static_assert(BLOCK_K % 8 == 0, "BLOCK_K must be a multiple of 8, one 16-byte chunk");

  // ---- Where this warp works ----
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  const int warp_m = warp / NUM_WARPS_N * WARP_M, warp_n = warp % NUM_WARPS_N * WARP_N;
  gmem_a += static_cast<size_t>(block_m) * K;                 // the block's BLOCK_M rows of A
  gmem_b += block_n;                                          // the block's BLOCK_N columns of B

  // ---- Shared memory and fragments ----
  __shared__ uint4 smem_a[BLOCK_M * BLOCK_K / 8];             // (BLOCK_M, BLOCK_K) in chunks of 8 halves
  __shared__ uint4 smem_b[BLOCK_K * BLOCK_N / 8];             // (BLOCK_K, BLOCK_N)
  uint32_t acc[WARP_M / MMA_M][WARP_N / MMA_N][2] = {};       // two halves in each register
  uint32_t frag_a[WARP_M / MMA_M][2];
  uint32_t frag_b[WARP_N / MMA_N];

  // ---- Main loop ----
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: load
    // One element a turn, one load in flight: each store waits for its load to come back from memory.
    #pragma unroll 1
    for (int i = threadIdx.x; i < BLOCK_M * BLOCK_K; i += NUM_THREADS) {
      const int row = i / BLOCK_K, col = i % BLOCK_K;
      half* chunk = reinterpret_cast<half*>(&smem_a[chunk_a(row, col / 8)]);
      chunk[col % 8] = gmem_a[static_cast<size_t>(row) * K + col];
    }
    #pragma unroll 1
    for (int i = threadIdx.x; i < BLOCK_K * BLOCK_N; i += NUM_THREADS) {
      const int row = i / BLOCK_N, col = i % BLOCK_N;
      half* chunk = reinterpret_cast<half*>(&smem_b[chunk_b(row, col / 8)]);
      chunk[col % 8] = gmem_b[static_cast<size_t>(row) * N + col];
    }
    // end region
    gmem_a += BLOCK_K;
    gmem_b += static_cast<size_t>(BLOCK_K) * N;
    __syncthreads();                                          // the warps' ldmatrix waits for every thread's store

    // region: multiply
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi += 2) {        // 32 lanes: the rows of two mma tiles
        const uint32_t address = shared_address(&smem_a[chunk_a(warp_m + mi * MMA_M + lane, k / 8)]);
        ldmatrix_x4(frag_a[mi][0], frag_a[mi][1], frag_a[mi + 1][0], frag_a[mi + 1][1], address);
      }
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni += 4) {        // 8 rows of k, four mma tiles wide
        const uint32_t address = shared_address(&smem_b[chunk_b(k + lane % 8, warp_n / 8 + ni + lane / 8)]);
        ldmatrix_x4_trans(frag_b[ni], frag_b[ni + 1], frag_b[ni + 2], frag_b[ni + 3], address);
      }
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++)
          mma_m16n8k8_f16(acc[mi][ni], frag_a[mi], frag_b[ni]);
    }
    // end region
    __syncthreads();                                          // the next tile's stores wait for every warp's ldmatrix
  }

  // ---- Epilogue ----
  // region: epilogue
  const int row_0 = block_m + warp_m + lane / 4, col_0 = block_n + warp_n + lane % 4 * 2;
  #pragma unroll
  for (int mi = 0; mi < WARP_M / MMA_M; mi++)
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA_N; ni++)
      #pragma unroll
      for (int r = 0; r < 2; r++) {                           // row lane/4, then eight rows below
        const size_t at = static_cast<size_t>(row_0 + mi * MMA_M + r * 8) * N + col_0 + ni * MMA_N;
        const float2 sum = __half22float2(*reinterpret_cast<half2*>(&acc[mi][ni][r]));
        const float2 old = __half22float2(*reinterpret_cast<const half2*>(&gmem_c[at]));
        *reinterpret_cast<half2*>(&gmem_d[at]) =
            __floats2half2_rn(alpha * sum.x + beta * old.x, alpha * sum.y + beta * old.y);
      }
  // end region
}
