// 02_tma.cu: one thread asks TMA for whole tiles, several ahead; mbarriers count their bytes.
// Extends 01_wgmma.cu: no addresses, no copying threads, and the tiles of the next steps are on their way.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// H100, H200.   Notebook 10.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 128, BLOCK_N 128, BLOCK_K 64, NUM_STAGES 3
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma.cuh"
#include "tile/warpgroup_epilogue.cuh"

constexpr int NUM_THREADS = 128;                              // one warpgroup
constexpr int MMA_M = 64, MMA_K = 16;                         // wgmma is BLOCK_N wide
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N * BLOCK_K * 2;   // bytes of a tile
constexpr int STAGE_BYTES = STAGE_A + STAGE_B;
constexpr int SMEM_BYTES = NUM_STAGES * (STAGE_BYTES + 8);    // the tiles, then one mbarrier for each stage

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* gmem_d,
     int M, int N, int K) {
  static_assert(BLOCK_K == 64 && BLOCK_M % MMA_M == 0, "rows of 128 bytes; wgmma takes 64 rows of A");

  // ---- Where this block works ----
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;

  // ---- Shared memory and accumulators ----
  extern __shared__ __align__(1024) uint4 smem[];             // [NUM_STAGES]: (BLOCK_M, BLOCK_K), (BLOCK_N, BLOCK_K)
  const uint32_t smem_a = __cvta_generic_to_shared(smem), smem_b = smem_a + STAGE_A;
  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;    // [NUM_STAGES] mbarriers of 8 bytes: the tiles are there
  float acc[BLOCK_M / MMA_M][BLOCK_N / 8][4];                 // no fragments of A and B: wgmma needs none

  // region: copy
  const auto copy = [&](int stage, int k_tile) {              // one thread asks for both tiles
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // the phase ends after so many bytes
    tma_load_2d(smem_a + at, map_a, k_tile, block_m, full + stage * 8);
    tma_load_2d(smem_b + at, map_b, k_tile, block_n, full + stage * 8);
  };
  // end region

  // region: multiply
  const auto multiply = [&](int stage, int k_tile) {          // issues the products and returns
    const uint64_t tile_a = wgmma_descriptor(smem_a + stage * STAGE_BYTES);
    const uint64_t tile_b = wgmma_descriptor(smem_b + stage * STAGE_BYTES);
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
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; i++) mbarrier_init(full + i * 8, 1);
    fence_mbarrier_init();
    for (int i = 0; i < NUM_STAGES && i * BLOCK_K < K; i++) copy(i, i * BLOCK_K);
  }
  __syncthreads();                                            // nobody waits on a barrier that is not there yet

  int stage = 0, parity = 0;
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    mbarrier_wait_parity(full + stage * 8, parity);           // the tile's bytes have come
    multiply(stage, k_tile);
    wgmma_wait_group<0>();
    __syncthreads();                                          // this buffer's next copy waits for all warps' products
    if (threadIdx.x == 0 && k_tile + NUM_STAGES * BLOCK_K < K) copy(stage, k_tile + NUM_STAGES * BLOCK_K);
    stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
    parity ^= stage == 0;                                     // stage 0 begins the next phase
  }

  // ---- Epilogue ----
  // region: epilogue
  store_warpgroup(acc, gmem_d + static_cast<size_t>(block_m) * N + block_n, N);
  // end region
}
