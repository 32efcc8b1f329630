// 06_two_stages.cu: two buffers for each tile; the next tile is copied into one while the other is multiplied.
// Extends 05_stepped_addresses.cu: a copy has a whole multiplication to arrive, and one barrier does for each k tile.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// A100, RTX 5090 and what follows.   Notebook 07.
#include <cuda_bf16.h>
#include "config.cuh"        // BLOCK_M 128, BLOCK_N 128, BLOCK_K 64, NUM_WARPS_M 2, NUM_WARPS_N 2
#include "ptx/cp_async.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mma_sync.cuh"

constexpr int NUM_THREADS = NUM_WARPS_M * NUM_WARPS_N * 32;
constexpr int WARP_M = BLOCK_M / NUM_WARPS_M, WARP_N = BLOCK_N / NUM_WARPS_N;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N * BLOCK_K * 2;   // bytes of a tile
constexpr int STAGE_BYTES = STAGE_A + STAGE_B;
constexpr int SMEM_BYTES = 2 * STAGE_BYTES;
constexpr int ROWS = NUM_THREADS * 8 / BLOCK_K;               // rows of a tile that one pass of all threads copies
constexpr int PASSES_A = BLOCK_M / ROWS, PASSES_B = BLOCK_N / ROWS;

// region: layout
// Where 16-byte chunk (row, chunk) of a tile lies in shared memory, counted in chunks. Both tiles have rows of BLOCK_K.
__device__ __forceinline__ int chunk_at(int row, int chunk) { return row * (BLOCK_K / 8) + (chunk ^ row % 8); }
// end region

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const __nv_bfloat16* gmem_a, const __nv_bfloat16* gmem_b, __nv_bfloat16* gmem_d, int M, int N, int K) {
  static_assert(WARP_M % MMA_M == 0 && WARP_N % (2 * MMA_N) == 0, "a warp tile is made of 16 x 16, two mma tiles");
  static_assert(BLOCK_K == 64, "rows are 128 bytes: chunk_at's XOR moves a chunk among 8 places");
  static_assert(ROWS % 8 == 0 && BLOCK_M % ROWS == 0 && BLOCK_N % ROWS == 0,
                "one pass of all threads must copy 8, 16, 32 … whole rows: change the tiles or the number of warps");

  // ---- Where this warp works ----
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  const int warp_m = warp / NUM_WARPS_N * WARP_M, warp_n = warp % NUM_WARPS_N * WARP_N;

  // ---- Shared memory and fragments ----
  extern __shared__ __align__(128) uint4 smem[];              // [2]: (BLOCK_M, BLOCK_K) of A, (BLOCK_N, BLOCK_K) of B
  const uint32_t smem_a = shared_address(smem), smem_b = smem_a + STAGE_A;
  float acc[WARP_M / MMA_M][WARP_N / MMA_N][4] = {};
  uint32_t frag_a[WARP_M / MMA_M][4];                         // two values in each register
  uint32_t frag_b[WARP_N / MMA_N][2];

  // region: addresses
  // The swizzle touches only the bits of an address that choose the chunk. Whole groups of 8 rows leave them alone and
  // are a constant further on; a step of c chunks along the row is an XOR with 16 c bytes.
  const uint32_t lane_a = smem_a + 16 * chunk_at(warp_m + lane % 16, lane / 16);
  const uint32_t lane_b = smem_b + 16 * chunk_at(warp_n + lane / 16 * 8 + lane % 8, lane / 8 % 2);
  // This thread's first chunk of a tile: its place in shared memory and its address in global memory.
  const int row = threadIdx.x / (BLOCK_K / 8), chunk = threadIdx.x % (BLOCK_K / 8);
  const uint32_t to_a = smem_a + 16 * chunk_at(row, chunk), to_b = smem_b + 16 * chunk_at(row, chunk);
  gmem_a += static_cast<size_t>(block_m + row) * K + chunk * 8;
  gmem_b += static_cast<size_t>(block_n + row) * K + chunk * 8;
  // end region

  // region: load
  const auto load = [&](int stage) {                          // issues copies and does not wait
    const uint32_t at = stage * STAGE_BYTES;
    #pragma unroll
    for (int i = 0; i < PASSES_A; i++) cp_async_16b(to_a + at + i * NUM_THREADS * 16, gmem_a + i * ROWS * K);
    #pragma unroll
    for (int i = 0; i < PASSES_B; i++) cp_async_16b(to_b + at + i * NUM_THREADS * 16, gmem_b + i * ROWS * K);
    cp_async_commit();
    gmem_a += BLOCK_K;
    gmem_b += BLOCK_K;
  };
  // end region

  // ---- Main loop ----
  load(0);
  int stage = 0;
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, stage ^= 1) {
    // region: hand_over
    cp_async_wait<0>();                                       // a thread waits for its own copies of this tile
    // The warps' ldmatrix waits for every thread's copies. The next copies wait for the readers of the buffer that they
    // overwrite: a warp that comes here has multiplied the tile before.
    __syncthreads();                                          // one for each k tile
    if (k_tile + BLOCK_K < K) load(stage ^ 1);                // in flight during the whole multiplication
    // end region
    const uint32_t stage_a = lane_a + stage * STAGE_BYTES, stage_b = lane_b + stage * STAGE_BYTES;

    // region: multiply
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)             // 16 rows, two chunks: the four 8x8 matrices of A
        ldmatrix_x4(frag_a[mi][0], frag_a[mi][1], frag_a[mi][2], frag_a[mi][3],
                    (stage_a ^ k * 2) + mi * MMA_M * BLOCK_K * 2);
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni += 2)          // 16 rows, two chunks: two mma tiles of B
        ldmatrix_x4(frag_b[ni][0], frag_b[ni][1], frag_b[ni + 1][0], frag_b[ni + 1][1],
                    (stage_b ^ k * 2) + ni * MMA_N * BLOCK_K * 2);
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++)
          mma_m16n8k16_bf16(acc[mi][ni], frag_a[mi], frag_b[ni]);
    }
    // end region
  }

  // ---- Epilogue ----
  // region: epilogue
  const int row_0 = block_m + warp_m + lane / 4, col_0 = block_n + warp_n + lane % 4 * 2;
  #pragma unroll
  for (int mi = 0; mi < WARP_M / MMA_M; mi++)
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA_N; ni++)
      #pragma unroll
      for (int r = 0; r < 2; r++)                             // values 0, 1: row lane/4; values 2, 3: eight rows below
        *reinterpret_cast<__nv_bfloat162*>(
            &gmem_d[static_cast<size_t>(row_0 + mi * MMA_M + r * 8) * N + col_0 + ni * MMA_N]) =
            __floats2bfloat162_rn(acc[mi][ni][r * 2], acc[mi][ni][r * 2 + 1]);
  // end region
}
