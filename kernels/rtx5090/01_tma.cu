// 01_tma.cu: one thread asks TMA for whole tiles; mbarriers count their bytes and tell everyone when they are there.
// Extends ampere/10_steady_addresses.cu: no addresses, no address registers, and a swizzle that the hardware applies.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// RTX 5090, H100 and what follows.   Notebook 08.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 128, BLOCK_N 256, BLOCK_K 32, NUM_WARPS_M 2, NUM_WARPS_N 4, NUM_STAGES 4, GROUP_M 16
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/mma_sync.cuh"
#include "ptx/tma.cuh"
#include "tile/block_order.cuh"
#include "tile/staged_epilogue_bf16.cuh"

constexpr int NUM_THREADS = NUM_WARPS_M * NUM_WARPS_N * 32;
constexpr int WARP_M = BLOCK_M / NUM_WARPS_M, WARP_N = BLOCK_N / NUM_WARPS_N;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N * BLOCK_K * 2;   // bytes of a tile
constexpr int STAGE_BYTES = STAGE_A + STAGE_B;
constexpr int SMEM_BYTES = NUM_STAGES * (STAGE_BYTES + 8);    // the tiles, then one mbarrier for each stage

// region: layout
// Where TMA puts 16-byte chunk (row, chunk), in chunks: swizzle "64B" for rows of 64 bytes, "128B"
// for 128. LINE_ROWS rows share the 128 bytes of the 32 banks, a line; its number enters the XOR.
constexpr int CHUNKS = BLOCK_K / 8, LINE_ROWS = 8 / CHUNKS;
__device__ __forceinline__ int chunk_at(int row, int chunk) {
  return row * CHUNKS + (chunk ^ row / LINE_ROWS % CHUNKS);
}
// end region

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* gmem_d,
     int M, int N, int K) {
  static_assert(WARP_M % MMA_M == 0 && WARP_N % (2 * MMA_N) == 0, "a warp tile is made of 16 x 16, two mma tiles");
  static_assert(BLOCK_K == 32 || BLOCK_K == 64, "two sets of fragments take turns: an even number of steps of 16");
  static_assert(NUM_STAGES >= 2, "one tile is multiplied while at least one other is on its way");

  // ---- Where this warp works ----
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Tile tile = grouped_block_order(blockIdx.y * gridDim.x + blockIdx.x, gridDim.y, gridDim.x, GROUP_M);
  const int block_m = tile.m * BLOCK_M, block_n = tile.n * BLOCK_N;
  const int warp_m = warp / NUM_WARPS_N * WARP_M, warp_n = warp % NUM_WARPS_N * WARP_N;

  // ---- Shared memory and fragments ----
  extern __shared__ __align__(1024) uint4 smem[];             // [NUM_STAGES]: (BLOCK_M, BLOCK_K), (BLOCK_N, BLOCK_K)
  const uint32_t smem_a = shared_address(smem), smem_b = smem_a + STAGE_A;
  float acc[WARP_M / MMA_M][WARP_N / MMA_N][4] = {};
  uint32_t frag_a[2][WARP_M / MMA_M][4];                      // one set is multiplied while the other is loaded
  uint32_t frag_b[2][WARP_N / MMA_N][2];

  // region: addresses
  // The swizzle touches only the bits of an address that choose the chunk. Whole groups of 8 rows leave them alone and
  // are a constant further on; a step of c chunks along the row is an XOR with 16 c bytes.
  const uint32_t lane_a = smem_a + 16 * chunk_at(warp_m + lane % 16, lane / 16);
  const uint32_t lane_b = smem_b + 16 * chunk_at(warp_n + lane / 16 * 8 + lane % 8, lane / 8 % 2);
  // end region

  // region: copy
  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;    // [NUM_STAGES] mbarriers of 8 bytes
  const auto copy = [&](int stage, int k_tile) {              // one thread asks for both tiles
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // the phase ends after so many bytes
    tma_load_2d(smem_a + at, map_a, k_tile, block_m, full + stage * 8);
    tma_load_2d(smem_b + at, map_b, k_tile, block_n, full + stage * 8);
  };
  // end region

  // region: load
  const auto load = [&](int set, int stage, int k) {          // shared memory to fragments
    #pragma unroll
    for (int mi = 0; mi < WARP_M / MMA_M; mi++)               // 16 rows, two chunks: the four 8x8 matrices of A
      ldmatrix_x4(frag_a[set][mi][0], frag_a[set][mi][1], frag_a[set][mi][2], frag_a[set][mi][3],
                  ((lane_a + stage * STAGE_BYTES) ^ k * 2) + mi * MMA_M * BLOCK_K * 2);
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA_N; ni += 2)            // 16 rows, two chunks: two mma tiles of B
      ldmatrix_x4(frag_b[set][ni][0], frag_b[set][ni][1], frag_b[set][ni + 1][0], frag_b[set][ni + 1][1],
                  ((lane_b + stage * STAGE_BYTES) ^ k * 2) + ni * MMA_N * BLOCK_K * 2);
  };
  // end region

  // ---- Main loop ----
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; i++) mbarrier_init(full + i * 8, 1);
    fence_mbarrier_init();
  }
  __syncthreads();                                            // nobody waits on a barrier that is not there yet
  if (threadIdx.x == 0)
    for (int i = 0; i < NUM_STAGES - 1 && i * BLOCK_K < K; i++) copy(i, i * BLOCK_K);
  mbarrier_wait_parity(full, 0);                              // the first tile's bytes have come
  load(0, 0, 0);
  int stage = 0, last = NUM_STAGES - 1, parity = 0;           // the buffers of this tile and of the tile before
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: multiply
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      const int set = k / MMA_K % 2;
      if (k == BLOCK_K - MMA_K) {
        last = stage;
        stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
        parity ^= stage == 0;                                 // stage 0 begins the next phase
        if (k_tile + BLOCK_K < K) mbarrier_wait_parity(full + stage * 8, parity);   // the next tile's bytes
        __syncthreads();                                      // waits for this tile's ldmatrix: it is overwritten next
      }
      if (k + MMA_K < BLOCK_K || k_tile + BLOCK_K < K)        // the fragments of the next step, if there is one
        load(set ^ 1, stage, (k + MMA_K) % BLOCK_K);
      const int k_next = k_tile + (NUM_STAGES - 1) * BLOCK_K;
      if (k == 0 && threadIdx.x == 0 && k_next < K) copy(last, k_next);
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni++)
        #pragma unroll
        for (int i = 0; i < WARP_M / MMA_M; i++) {            // a snake: one of the fragments stays
          const int mi = ni % 2 ? WARP_M / MMA_M - 1 - i : i;
          mma_m16n8k16_bf16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
        }
    }
    // end region
  }

  // ---- Epilogue ----
  // region: epilogue
  // The tiles can be reused: the last barrier of the loop has waited for the last ldmatrix of every warp.
  __nv_bfloat16* const warp_d = gmem_d + static_cast<size_t>(block_m + warp_m) * N + block_n + warp_n;
  store_through_shared<WARP_N>(acc, smem + warp * (MMA_M * WARP_N / 8), warp_d, N);
  // end region
}
