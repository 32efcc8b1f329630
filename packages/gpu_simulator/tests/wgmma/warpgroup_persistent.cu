// Persistent blocks in clusters of two that share B: TMA with multicast, wgmma by two warpgroups, D stored by TMA while
// the producer already fills stages for the next tile.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate. Tests break it on purpose.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 128, BLOCK_N 64, BLOCK_K 64, NUM_STAGES, WGMMA_N = BLOCK_N
#include "ptx/cluster.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/named_barrier.cuh"
#include "ptx/tma.cuh"

// WRAPPER
constexpr int CLUSTER = 2, CONSUMERS = 2, TILE_A = BLOCK_M * BLOCK_K * 2, TILE_B = BLOCK_N * BLOCK_K * 2;
constexpr int STAGE_BYTES = TILE_A + TILE_B, STAGED = 64 * BLOCK_N * 2;   // bytes of D of one warpgroup
constexpr int SMEM_BYTES = NUM_STAGES * (TILE_A + TILE_B) + CONSUMERS * 64 * BLOCK_N * 2;

__device__ __forceinline__ uint64_t descriptor(uint32_t tile) {
  return uint64_t(tile >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(CONSUMERS * 128 + 128)
kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
       const __grid_constant__ CUtensorMap map_d, int M, int N, int K) {
  extern __shared__ __align__(1024) uint8_t smem[];
  __shared__ alignas(8) uint64_t barriers[2 * NUM_STAGES];
  const uint32_t tiles = shared_address(smem), full = shared_address(barriers), empty = full + 8 * NUM_STAGES;
  const int group = threadIdx.x / 128, thread = threadIdx.x % 128;
  const int tiles_n = N / BLOCK_N, count = M / (CLUSTER * BLOCK_M) * tiles_n;
  const uint32_t rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; i++) {
      mbarrier_init(full + 8 * i, 1);
      mbarrier_init(empty + 8 * i, CLUSTER * CONSUMERS);
    }
    fence_mbarrier_init();                                                    // INIT_FENCE
  }
  cluster_sync();                                                             // INIT_BARRIER

  int stage = 0, phase = 0;
  const auto next = [&] { if (++stage == NUM_STAGES) stage = 0, phase ^= 1; };
  if (group == CONSUMERS) {
    if (thread == 0) {
      for (int tile = blockIdx.x / CLUSTER; tile < count; tile += gridDim.x / CLUSTER) {
        const int m = (tile / tiles_n * CLUSTER + rank) * BLOCK_M, n = tile % tiles_n * BLOCK_N;
        for (int k = 0; k < K; k += BLOCK_K, next()) {
          mbarrier_wait_parity(empty + 8 * stage, phase ^ 1);                 // EMPTY_WAIT
          mbarrier_arrive_expect_tx(full + 8 * stage, STAGE_BYTES);           // EXPECT
          const uint32_t at = tiles + stage * STAGE_BYTES;
          tma_load_2d(at, map_a, k, m, full + 8 * stage);                     // LOAD_A
          tma_load_2d_multicast(at + TILE_A + rank * TILE_B / CLUSTER, map_b, k, n + rank * BLOCK_N / CLUSTER,
                                full + 8 * stage, 3);                         // LOAD_B
        }
      }
    }
  } else {
    const uint32_t staged = tiles + NUM_STAGES * STAGE_BYTES + group * STAGED;
    for (int tile = blockIdx.x / CLUSTER; tile < count; tile += gridDim.x / CLUSTER) {
      const int m = (tile / tiles_n * CLUSTER + rank) * BLOCK_M + group * 64, n = tile % tiles_n * BLOCK_N;
      float acc[WGMMA_N / 2];
      int previous = -1;
      for (int k = 0; k < K; k += BLOCK_K, next()) {
        mbarrier_wait_parity(full + 8 * stage, phase);                        // FULL_WAIT
        const uint64_t a = descriptor(tiles + stage * STAGE_BYTES + group * (TILE_A / 2));
        const uint64_t b = descriptor(tiles + stage * STAGE_BYTES + TILE_A);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");               // FENCE
        for (int kk = 0; kk < BLOCK_K / 16; kk++) wgmma_n(acc, a + 2 * kk, b + 2 * kk, k > 0 || kk > 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");        // COMMIT
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");        // WAIT_1
        if (previous >= 0 && thread < CLUSTER) mbarrier_arrive_cluster(mapa(empty + 8 * previous, thread));
        previous = stage;
      }
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");          // WAIT_0
      if (thread < CLUSTER) mbarrier_arrive_cluster(mapa(empty + 8 * previous, thread));   // RELEASE
      if (thread == 0) tma_store_wait_read<0>();                              // STORE_WAIT
      asm volatile("bar.sync %0, 128;" :: "r"(1 + group) : "memory");         // STAGED_FREE
      const int row = thread / 32 * 16 + thread % 32 / 4;
      for (int i = 0; i < WGMMA_N / 2; i += 2) {
        const int r = row + i / 2 % 2 * 8;
        __nv_bfloat162 pair = __floats2bfloat162_rn(acc[i], acc[i + 1]);
        asm volatile("st.shared.b32 [%0], %1;" :: "r"(staged + r * 128 + ((i / 4 ^ r % 8) * 16) + thread % 4 * 4),
                     "r"(*reinterpret_cast<uint32_t*>(&pair)) : "memory");    // STAGE
      }
      fence_proxy_async();                                                    // STORE_FENCE
      asm volatile("bar.sync %0, 128;" :: "r"(1 + group) : "memory");         // STORE_BARRIER
      if (thread == 0) {
        tma_store_2d(map_d, n, m, staged);                                    // STORE
        tma_store_commit();
      }
    }
    if (thread == 0) tma_store_wait_read<0>();                                // LAST_WAIT
  }
  __syncthreads();
  cluster_sync();                                                             // END_BARRIER
}
