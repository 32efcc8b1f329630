// 04_wgmma.cu: B takes the side of wgmma that has 64 rows, A that which may be narrow; TMA brings both, far ahead.
// Extends 03_cluster.cu: nothing but B's bytes is left to wait for.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// H100, H200.   Notebook 10.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 64, BLOCK_N 64, BLOCK_K 64, NUM_STAGES 8, SPLIT 2
#include "ptx/cluster_load.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/named_barrier.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma_narrow.cuh"
#include "tile/block_order.cuh"

constexpr int CONSUMERS = 128, NUM_THREADS = CONSUMERS + 32;  // a warpgroup that multiplies, a warp that asks for tiles
constexpr int MMA_N = 64, MMA_K = 16;                         // wgmma has BLOCK_M columns, and 64 rows: of B
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N * BLOCK_K * 2;   // bytes of a tile
constexpr int STAGE_BYTES = STAGE_A + STAGE_B;
constexpr int SMEM_BYTES = NUM_STAGES * (STAGE_BYTES + 16);   // the tiles, then two mbarriers for each stage

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* gmem_d,
     int M, int N, int K) {
  static_assert(BLOCK_K == 64 && BLOCK_N % MMA_N == 0, "rows of 128 bytes; wgmma takes 64 rows of B");
  static_assert(BLOCK_M * BLOCK_N * 4 <= NUM_STAGES * STAGE_BYTES, "the sums take the place of the tiles");

  // ---- Where this block works ----
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  // region: range
  const int k_tiles = cdiv(K, BLOCK_K), split = blockIdx.z;
  const int first = k_tiles * split / SPLIT, last = k_tiles * (split + 1) / SPLIT;   // they differ by at most one
  // end region

  // ---- Shared memory and accumulators ----
  extern __shared__ __align__(1024) uint4 smem[];             // [NUM_STAGES]: (BLOCK_M, BLOCK_K), (BLOCK_N, BLOCK_K)
  const uint32_t smem_a = __cvta_generic_to_shared(smem), smem_b = smem_a + STAGE_A;
  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;    // [NUM_STAGES] mbarriers of 8 bytes: the tiles are there
  const uint32_t empty = full + NUM_STAGES * 8;               // [NUM_STAGES]: the warps' products have read them
  float acc[BLOCK_N / MMA_N][BLOCK_M / 8][4];                 // columns of D below each other: 64 rows of B

  const auto advance = [](int& stage, int& parity) {          // the next buffer of the ring; when the first is next
    if (++stage == NUM_STAGES) stage = 0, parity ^= 1;        // again, its barriers are a phase further
  };

  // ---- Main loop ----
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; i++) mbarrier_init(full + i * 8, 1), mbarrier_init(empty + i * 8, 4);
    fence_mbarrier_init();
  }
  __syncthreads();                                            // nobody waits on a barrier that is not there yet

  int stage = 0, parity = 0, before = 0;
  if (warp == CONSUMERS / 32) {
    if (lane == 0)
      for (int k_tile = first; k_tile < last; k_tile++, advance(stage, parity)) {
        mbarrier_wait_parity(empty + stage * 8, parity ^ 1);  // until no product reads this buffer any more
        mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES);
        tma_load_2d(smem_b + stage * STAGE_BYTES, map_b, k_tile * BLOCK_K, block_n, full + stage * 8);
        tma_load_2d(smem_a + stage * STAGE_BYTES, map_a, k_tile * BLOCK_K, block_m, full + stage * 8);
      }
    __syncwarp();                                             // the whole warp goes to the cluster's barrier
  } else {
    for (int k_tile = first; k_tile < last; k_tile++, advance(stage, parity)) {
      mbarrier_wait_parity(full + stage * 8, parity);         // the tile's bytes have come
      const uint64_t tile_a = wgmma_descriptor(smem_a + stage * STAGE_BYTES);
      const uint64_t tile_b = wgmma_descriptor(smem_b + stage * STAGE_BYTES);
      wgmma_fence();                                          // what the threads did with acc comes before
      #pragma unroll
      for (int k = 0; k < BLOCK_K / MMA_K; k++)               // MMA_K values are 32 bytes; a descriptor counts in 16
        #pragma unroll
        for (int ni = 0; ni < BLOCK_N / MMA_N; ni++)          // 64 rows are 64 · 128 bytes; the first product replaces
          wgmma_m64k16_bf16(acc[ni], tile_b + k * 2 + ni * 512, tile_a + k * 2, k_tile > first || k > 0);
      wgmma_commit_group();
      wgmma_wait_group<1>();                                  // the products before these are done: free their buffer
      if (k_tile > first && lane == 0) mbarrier_arrive(empty + before * 8);
      before = stage;
    }
    wgmma_wait_group<0>();
    named_barrier_sync<1, CONSUMERS>();                       // all products have read: the tiles' memory is free
  }

  // ---- Epilogue ----
  // region: reduce
  constexpr int COLUMNS = BLOCK_M / 8, FRAGMENTS = BLOCK_N / MMA_N * COLUMNS;
  if (warp < CONSUMERS / 32)
    #pragma unroll
    for (int i = 0; i < FRAGMENTS; i++)                       // without a k tile there is nothing in acc
      reinterpret_cast<float4*>(smem)[i * CONSUMERS + threadIdx.x] =
          first < last ? reinterpret_cast<const float4&>(acc[i / COLUMNS][i % COLUMNS]) : float4{};
  cluster_sync();                                             // every block's sums lie in its shared memory
  if (warp < CONSUMERS / 32)
    for (int i = split; i < FRAGMENTS; i += SPLIT) {          // this block's part of the tile
      float4 sum = {};
      #pragma unroll
      for (int s = 0; s < SPLIT; s++) {                       // always in this order: D is the same
        const float4 part = load_shared_cluster(mapa(smem_a + (i * CONSUMERS + threadIdx.x) * 16, s));
        sum.x += part.x, sum.y += part.y, sum.z += part.z, sum.w += part.w;
      }
      const float values[4] = {sum.x, sum.y, sum.z, sum.w};   // 0, 1: neighbouring rows of D; 2, 3: eight columns on
      const int n = block_n + i / COLUMNS * MMA_N + warp * 16 + lane / 4, m = block_m + i % COLUMNS * 8 + lane % 4 * 2;
      #pragma unroll
      for (int r = 0; r < 4; r++)
        if (m + r % 2 < M && n + r / 2 * 8 < N)
          gmem_d[size_t(m + r % 2) * N + n + r / 2 * 8] = __float2bfloat16_rn(values[r]);
    }
  cluster_sync();                                             // a block's shared memory outlives the others' reads
  // end region
}
