// A ring of stages in a cluster of blocks that share the columns of B: each loads a part of its tile for all.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, FP16 in and out, FP32 accumulate. Tests break it on purpose.
#include <cuda_fp16.h>
#include "config.cuh"  // BLOCK_M 64, BLOCK_N 64, BLOCK_K 64, NUM_STAGES 3, CLUSTER 2
#include "ptx/cluster.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/mma_sync.cuh"
#include "ptx/tma.cuh"

constexpr int CONSUMERS = 4, TILE_A = BLOCK_M * BLOCK_K * 2, TILE_B = BLOCK_N * BLOCK_K * 2;
constexpr int STAGE_BYTES = TILE_A + TILE_B;
constexpr int SMEM_BYTES = NUM_STAGES * STAGE_BYTES + BLOCK_M * BLOCK_N * 2;

__device__ __forceinline__ uint32_t at(uint32_t tile, int row, int chunk) {   // rows of 128 bytes, 128-byte swizzle
  return tile + row * 128 + ((chunk ^ row % 8) * 16);
}

extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(CONSUMERS * 32 + 32)
kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
     const __grid_constant__ CUtensorMap map_d, int K) {
  extern __shared__ __align__(1024) uint8_t smem[];
  __shared__ alignas(8) uint64_t barriers[2 * NUM_STAGES];
  const uint32_t tiles = shared_address(smem), full = shared_address(barriers), empty = full + 8 * NUM_STAGES;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int block_m = blockIdx.x * BLOCK_M, block_n = blockIdx.y * BLOCK_N;
  const uint32_t rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; i++) {
      mbarrier_init(full + 8 * i, 1);
      mbarrier_init(empty + 8 * i, CLUSTER * CONSUMERS);
    }
    fence_mbarrier_init();                                    // INIT_FENCE
  }
  cluster_sync();                                             // INIT_BARRIER

  if (warp == CONSUMERS) {                                    // producer
    if (lane == 0) {
      for (int k = 0, stage = 0, phase = 0; k < K; k += BLOCK_K) {
        mbarrier_wait_parity(empty + 8 * stage, phase ^ 1);   // EMPTY_WAIT
        mbarrier_arrive_expect_tx(full + 8 * stage, STAGE_BYTES);   // EXPECT
        const uint32_t tile = tiles + stage * STAGE_BYTES;
        tma_load_2d(tile, map_a, k, block_m, full + 8 * stage);
        tma_load_2d_multicast(tile + TILE_A + rank * TILE_B / CLUSTER, map_b, k, block_n + rank * BLOCK_N / CLUSTER,
                              full + 8 * stage, (1 << CLUSTER) - 1);   // MULTICAST
        if (++stage == NUM_STAGES) stage = 0, phase ^= 1;
      }
    }
  } else {
    float acc[BLOCK_N / 8][4] = {};
    for (int k = 0, stage = 0, phase = 0; k < K; k += BLOCK_K) {
      mbarrier_wait_parity(full + 8 * stage, phase);          // FULL_WAIT
      const uint32_t tile = tiles + stage * STAGE_BYTES;
      for (int kk = 0; kk < BLOCK_K / 16; kk++) {
        uint32_t a[4], b[BLOCK_N / 8][2];
        ldmatrix_x4(a[0], a[1], a[2], a[3], at(tile, warp * 16 + lane % 16, kk * 2 + lane / 16));
        for (int n = 0; n < BLOCK_N / 8; n += 2)
          ldmatrix_x4(b[n][0], b[n][1], b[n + 1][0], b[n + 1][1],
                      at(tile + TILE_A, n * 8 + lane / 16 * 8 + lane % 8, kk * 2 + lane / 8 % 2));
        for (int n = 0; n < BLOCK_N / 8; n++)
          asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                       "{%0,%1,%2,%3};" : "+f"(acc[n][0]), "+f"(acc[n][1]), "+f"(acc[n][2]), "+f"(acc[n][3])
                       : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[n][0]), "r"(b[n][1]));
      }
      __syncwarp();
      if (lane < CLUSTER) mbarrier_arrive_cluster(mapa(empty + 8 * stage, lane));   // RELEASE
      if (++stage == NUM_STAGES) stage = 0, phase ^= 1;
    }
    const uint32_t out = tiles + NUM_STAGES * STAGE_BYTES;
    for (int n = 0; n < BLOCK_N / 8; n++)
      for (int half = 0; half < 2; half++) {
        __half2 pair = __floats2half2_rn(acc[n][2 * half], acc[n][2 * half + 1]);
        asm volatile("st.shared.b32 [%0], %1;" :: "r"(at(out, warp * 16 + lane / 4 + 8 * half, n) + lane % 4 * 4),
                     "r"(*reinterpret_cast<uint32_t*>(&pair)) : "memory");
      }
    fence_proxy_async();                                      // STORE_FENCE
    asm volatile("bar.sync 1, 128;" ::: "memory");            // STORE_BARRIER
    if (threadIdx.x == 0) {
      tma_store_2d(map_d, block_n, block_m, out);
      tma_store_commit();
      tma_store_wait_read<0>();                               // STORE_WAIT
    }
  }
  __syncwarp();
  cluster_sync();                                             // END_BARRIER
}
