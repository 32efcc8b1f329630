// 01_converted_tiles.cu: FP32 is rounded to BF16 or FP16 on its way into shared memory; wmma multiplies.
// The first rung.
// D[M,N] = A[M,K] · B[K,N]   all row-major FP32, multiplied in BF16 or FP16, FP32 accumulate
// A100, H100 and what follows; FP16 on a T4 too.   Notebook 09.
#include <mma.h>
#include "config.cuh"        // BF16 1, BLOCK_M 64, BLOCK_N 64, BLOCK_K 16, NUM_WARPS_M 2, NUM_WARPS_N 2, K_UNROLL 1,
                             // PADDING 0, SERPENTINE 0, MIN_BLOCKS 1
#include "tile/narrow.cuh"

using namespace nvcuda;
using element = Element<BF16>::type;
constexpr int NUM_THREADS = NUM_WARPS_M * NUM_WARPS_N * 32;
constexpr int WARP_M = BLOCK_M / NUM_WARPS_M, WARP_N = BLOCK_N / NUM_WARPS_N;
constexpr int MMA = 16;                                       // a wmma tile is 16 x 16 x 16
constexpr int STEP_K = BLOCK_K * K_UNROLL;                    // k tiles between two barriers: K_UNROLL
constexpr int PITCH_A = BLOCK_M + PADDING, PITCH_B = BLOCK_N + PADDING;   // elements from one row of k to the next
constexpr int SMEM_BYTES = STEP_K * (PITCH_A + PITCH_B) * 2;
constexpr int CHUNKS_A = BLOCK_M * STEP_K / 4 / NUM_THREADS, CHUNKS_B = BLOCK_N * STEP_K / 4 / NUM_THREADS;

extern "C" __global__ void __launch_bounds__(NUM_THREADS, MIN_BLOCKS)
gemm(const float* gmem_a, const float* gmem_b, float* gmem_d, int M, int N, int K) {
  static_assert(WARP_M % MMA == 0 && WARP_N % MMA == 0 && BLOCK_K % MMA == 0, "tiles are made of 16 x 16 x 16");
  static_assert(PADDING % 8 == 0, "load_matrix_sync wants rows a multiple of 16 bytes apart");
  static_assert(CHUNKS_A * NUM_THREADS * 4 == BLOCK_M * STEP_K && CHUNKS_B * NUM_THREADS * 4 == BLOCK_N * STEP_K,
                "every thread must copy the same number of chunks: make the tiles larger or use fewer warps");

  // ---- Where this warp works ----
  const int warp = threadIdx.x / 32;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  const int warp_m = warp / NUM_WARPS_N * WARP_M, warp_n = warp % NUM_WARPS_N * WARP_N;
  gmem_a += static_cast<size_t>(block_m) * K;                 // the block's BLOCK_M rows of A
  gmem_b += block_n;                                          // the block's BLOCK_N columns of B

  // ---- Shared memory and fragments ----
  extern __shared__ __align__(128) element smem_a[];          // (STEP_K, BLOCK_M): A is transposed on the way in
  element* const smem_b = smem_a + STEP_K * PITCH_A;          // (STEP_K, BLOCK_N)
  wmma::fragment<wmma::matrix_a, MMA, MMA, MMA, element, wmma::col_major> frag_a[WARP_M / MMA];
  wmma::fragment<wmma::matrix_b, MMA, MMA, MMA, element, wmma::row_major> frag_b[WARP_N / MMA];
  wmma::fragment<wmma::accumulator, MMA, MMA, MMA, float> acc[WARP_M / MMA][WARP_N / MMA];
  for (auto& row : acc)
    for (auto& tile : row) wmma::fill_fragment(tile, 0.0f);

  // ---- Main loop ----
  for (int k_tile = 0; k_tile < K; k_tile += STEP_K) {
    // region: load
    #pragma unroll 4                                          // few loads: registers hold the sums
    for (int i = 0; i < CHUNKS_A; i++) {                      // a warp takes 8 rows, 4 chunks of four values in each
      const int chunk = i * NUM_THREADS + threadIdx.x;
      const int row = chunk / 4 % BLOCK_M, k = chunk / 4 / BLOCK_M * 16 + chunk % 4 * 4;
      const float4 wide = *reinterpret_cast<const float4*>(gmem_a + static_cast<size_t>(row) * K + k);
      const uint64_t four = narrow<BF16>(wide);
      #pragma unroll
      for (int j = 0; j < 4; j++)
        smem_a[(k + j) * PITCH_A + row] = reinterpret_cast<const element*>(&four)[j];
    }
    #pragma unroll 2
    for (int i = 0; i < CHUNKS_B; i++) {
      const int chunk = i * NUM_THREADS + threadIdx.x, k = chunk / (BLOCK_N / 4), col = chunk % (BLOCK_N / 4) * 4;
      const float4 wide = *reinterpret_cast<const float4*>(gmem_b + static_cast<size_t>(k) * N + col);
      *reinterpret_cast<uint64_t*>(&smem_b[k * PITCH_B + col]) = narrow<BF16>(wide);
    }
    // end region
    gmem_a += STEP_K;
    gmem_b += static_cast<size_t>(STEP_K) * N;
    __syncthreads();                                          // the warps' fragments wait for every thread's store

    // region: multiply
    #pragma unroll 2
    for (int k = 0; k < STEP_K; k += MMA) {
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA; mi++)
        wmma::load_matrix_sync(frag_a[mi], &smem_a[k * PITCH_A + warp_m + mi * MMA], PITCH_A);
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA; ni++)
        wmma::load_matrix_sync(frag_b[ni], &smem_b[k * PITCH_B + warp_n + ni * MMA], PITCH_B);
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA; mi++)
        #pragma unroll
        for (int step = 0; step < WARP_N / MMA; step++) {     // serpentine: odd rows, right to left
          const int ni = SERPENTINE && mi % 2 ? WARP_N / MMA - 1 - step : step;
          wmma::mma_sync(acc[mi][ni], frag_a[mi], frag_b[ni], acc[mi][ni]);
        }
    }
    // end region
    __syncthreads();                                          // the next tile's stores wait for every warp's fragments
  }

  // ---- Epilogue ----
  // region: epilogue
  float* const warp_d = gmem_d + static_cast<size_t>(block_m + warp_m) * N + block_n + warp_n;
  #pragma unroll
  for (int mi = 0; mi < WARP_M / MMA; mi++)
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA; ni++)
      wmma::store_matrix_sync(warp_d + static_cast<size_t>(mi * MMA) * N + ni * MMA, acc[mi][ni], N,
                              wmma::mem_row_major);
  // end region
}
