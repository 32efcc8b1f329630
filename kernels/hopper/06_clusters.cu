// 06_clusters.cu: two blocks one above the other need the same columns of B: each loads half for both.
// Extends 05_persistent.cu: multicast, so that a third fewer requests leave the SMs; buffers are freed in both blocks.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// H100, H200.   Notebook 10.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 128, BLOCK_N 256, BLOCK_K 64, NUM_STAGES 4, GROUP_M 8
#include "ptx/cluster.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/setmaxnreg.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma.cuh"
#include "tile/block_order.cuh"
#include "tile/warpgroup_epilogue.cuh"

constexpr int NUM_CONSUMERS = 2, NUM_THREADS = (NUM_CONSUMERS + 1) * 128;   // warpgroups that multiply, one produces
constexpr int CLUSTER = 2;                                    // blocks, one tile of D below the other
constexpr int CONSUMER_WARPS = CLUSTER * NUM_CONSUMERS * 4;      // in both blocks
constexpr int PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 240;   // of 65,536
constexpr int MMA_M = 64, MMA_K = 16;                         // wgmma is BLOCK_N wide
constexpr int WARPGROUP_M = BLOCK_M / NUM_CONSUMERS;          // rows of D for each consumer
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N * BLOCK_K * 2;   // bytes of a tile
constexpr int STAGE_BYTES = STAGE_A + STAGE_B;
constexpr int SMEM_BYTES = NUM_STAGES * (STAGE_BYTES + 16);   // the tiles, then two mbarriers for each stage

extern "C" __global__ void __launch_bounds__(NUM_THREADS, 1)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* gmem_d,
     int M, int N, int K) {
  static_assert(BLOCK_K == 64 && WARPGROUP_M % MMA_M == 0, "rows of 128 bytes; wgmma takes 64 rows of A");

  // ---- Where this warpgroup works ----
  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);   // the compiler sees: the same in every lane
  const int rank = cluster_ctarank();                         // the block's number: 0 the upper tile, 1 the lower
  const int tiles_m = M / (CLUSTER * BLOCK_M), tiles_n = N / BLOCK_N;   // counted in tiles of two blocks
  const auto place = [&](int tile) { return grouped_block_order(tile, tiles_m, tiles_n, GROUP_M); };

  // ---- Shared memory and accumulators ----
  extern __shared__ __align__(1024) uint4 smem[];             // [NUM_STAGES]: (BLOCK_M, BLOCK_K), (BLOCK_N, BLOCK_K)
  const uint32_t smem_a = __cvta_generic_to_shared(smem), smem_b = smem_a + STAGE_A;
  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;    // [NUM_STAGES] mbarriers of 8 bytes: the tiles are there
  const uint32_t empty = full + NUM_STAGES * 8;               // [NUM_STAGES]: the warps' products have read them
  float acc[WARPGROUP_M / MMA_M][BLOCK_N / 8][4];                 // no fragments of A and B: wgmma needs none

  const auto advance = [](int& stage, int& parity) {          // the next buffer of the ring; when the first is next
    if (++stage == NUM_STAGES) stage = 0, parity ^= 1;        // again, its barriers are a phase further
  };

  // region: copy
  const auto copy = [&](int stage, Tile tile, int k_tile) {   // one thread asks for both tiles
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // the phase ends after so many bytes
    tma_load_2d(smem_a + at, map_a, k_tile, (tile.m * CLUSTER + rank) * BLOCK_M, full + stage * 8);
    const int half = rank * BLOCK_N / CLUSTER;                // this block's columns of B, for the same place in both
    tma_load_2d_multicast(smem_b + at + half * BLOCK_K * 2, map_b, k_tile, tile.n * BLOCK_N + half, full + stage * 8,
                          0b11);
  };
  // end region

  const auto release = [&](int stage) {                       // each warp for itself: its products have read the buffer
    if (threadIdx.x % 32 < CLUSTER) mbarrier_arrive_remote(mapa(empty + stage * 8, threadIdx.x % 32));
  };

  // region: multiply
  const auto multiply = [&](int stage, int k_tile) {          // issues the products and returns
    const uint64_t tile_a = wgmma_descriptor(smem_a + stage * STAGE_BYTES + warpgroup * WARPGROUP_M * BLOCK_K * 2);
    const uint64_t tile_b = wgmma_descriptor(smem_b + stage * STAGE_BYTES);
    wgmma_fence();                                            // what the threads did with acc comes before
    #pragma unroll
    for (int k = 0; k < BLOCK_K / MMA_K; k++)                 // MMA_K values are 32 bytes; a descriptor counts in 16
      #pragma unroll
      for (int mi = 0; mi < WARPGROUP_M / MMA_M; mi++)        // 64 rows are 64 · 128 bytes; the first product replaces
        wgmma_m64k16_bf16(acc[mi], tile_a + k * 2 + mi * 512, tile_b + k * 2, k_tile > 0 || k > 0);
    wgmma_commit_group();
  };
  // end region

  // ---- Main loop ----
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; i++) mbarrier_init(full + i * 8, 1), mbarrier_init(empty + i * 8, CONSUMER_WARPS);
    fence_mbarrier_init();
  }
  cluster_sync();                                             // no block reports to a barrier that is not there yet

  // region: producer
  if (warpgroup == NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();                     // this warpgroup needs few registers,
    int stage = 0, parity = 1;                                // a fresh barrier lets parity 1 pass: buffers are free
    if (threadIdx.x == NUM_CONSUMERS * 128)
      for (int index = blockIdx.x / CLUSTER; index < tiles_m * tiles_n; index += gridDim.x / CLUSTER) {
        const Tile tile = place(index);
        for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity)) {
          mbarrier_wait_parity(empty + stage * 8, parity);    // until no product reads this buffer any more
          copy(stage, tile, k_tile);
        }
      }
    for (int i = 0; i < NUM_STAGES && threadIdx.x == NUM_CONSUMERS * 128; i++, advance(stage, parity))
      mbarrier_wait_parity(empty + stage * 8, parity);        // the last arrivals come before this block may end
    return;
  }
  // end region

  // region: consumer
  setmaxnreg_inc<CONSUMER_REGISTERS>();                       // and those that multiply get what it gave
  int stage = 0, parity = 0;
  for (int index = blockIdx.x / CLUSTER; index < tiles_m * tiles_n; index += gridDim.x / CLUSTER) {
    for (int k_tile = 0, before = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity)) {
      mbarrier_wait_parity(full + stage * 8, parity);         // the tile's bytes have come
      multiply(stage, k_tile);
      wgmma_wait_group<1>();                                  // the products before these are done: free their buffer
      if (k_tile > 0) release(before);
      before = stage;
    }
    wgmma_wait_group<0>();
    release(stage == 0 ? NUM_STAGES - 1 : stage - 1);         // the last buffer of this tile
    // end region

    // ---- Epilogue ----
    // region: epilogue
    const Tile tile = place(index);
    const size_t row = (tile.m * CLUSTER + rank) * BLOCK_M + warpgroup * WARPGROUP_M;
    store_warpgroup(acc, gmem_d + row * N + tile.n * BLOCK_N, N);
    // end region
  }
}
