// A ring of stages: a producer warpgroup lets TMA fill them, two consumer warpgroups multiply them with wgmma.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in, FP32 out. Tests break it on purpose.
#include "config.cuh"  // BLOCK_M 128, BLOCK_N, BLOCK_K 64, NUM_STAGES, WGMMA_N = BLOCK_N
#include "ptx/mbarrier.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/tma.cuh"

// WRAPPER
constexpr int CONSUMERS = 2, TILE_A = BLOCK_M * BLOCK_K * 2, TILE_B = BLOCK_N * BLOCK_K * 2;
constexpr int STAGE_BYTES = TILE_A + TILE_B;
constexpr int SMEM_BYTES = NUM_STAGES * STAGE_BYTES;

__device__ __forceinline__ uint64_t descriptor(uint32_t tile) {   // K-major, rows of 128 bytes, 128-byte swizzle
  return uint64_t(tile >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

extern "C" __global__ void __launch_bounds__(CONSUMERS * 128 + 128)
kernel(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, float* d, int N, int K) {
  extern __shared__ __align__(1024) uint8_t smem[];
  __shared__ alignas(8) uint64_t barriers[2 * NUM_STAGES];
  const uint32_t tiles = shared_address(smem), full = shared_address(barriers), empty = full + 8 * NUM_STAGES;
  const int group = threadIdx.x / 128, thread = threadIdx.x % 128;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; i++) {
      mbarrier_init(full + 8 * i, 1);
      mbarrier_init(empty + 8 * i, CONSUMERS);
    }
    fence_mbarrier_init();
  }
  __syncthreads();

  if (group == CONSUMERS) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (thread == 0) {
      for (int k = 0, stage = 0, phase = 0; k < K; k += BLOCK_K) {
        mbarrier_wait_parity(empty + 8 * stage, phase ^ 1);                   // EMPTY_WAIT
        mbarrier_arrive_expect_tx(full + 8 * stage, STAGE_BYTES);             // EXPECT
        const uint32_t tile = tiles + stage * STAGE_BYTES;
        tma_load_2d(tile, map_a, k, block_m, full + 8 * stage);               // LOAD_A
        tma_load_2d(tile + TILE_A, map_b, k, block_n, full + 8 * stage);      // LOAD_B
        if (++stage == NUM_STAGES) stage = 0, phase ^= 1;
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float acc[WGMMA_N / 2];
    for (int i = 0; i < WGMMA_N / 2; i++) acc[i] = 0;
    int previous = -1;
    for (int k = 0, stage = 0, phase = 0; k < K; k += BLOCK_K) {
      mbarrier_wait_parity(full + 8 * stage, phase);                          // FULL_WAIT
      const uint64_t a = descriptor(tiles + stage * STAGE_BYTES + group * (TILE_A / 2));
      const uint64_t b = descriptor(tiles + stage * STAGE_BYTES + TILE_A);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                 // FENCE
      for (int kk = 0; kk < BLOCK_K / 16; kk++) wgmma_n(acc, a + 2 * kk, b + 2 * kk, 1);   // WGMMA
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");          // COMMIT
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");          // WAIT_1
      if (previous >= 0 && thread == 0) mbarrier_arrive(empty + 8 * previous);   // RELEASE
      previous = stage;
      if (++stage == NUM_STAGES) stage = 0, phase ^= 1;
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");            // WAIT_0
    const int row = block_m + group * 64 + thread / 32 * 16 + thread % 32 / 4, column = block_n + thread % 4 * 2;
    for (int i = 0; i < WGMMA_N / 2; i++)
      d[(row + i / 2 % 2 * 8) * N + column + i / 4 * 8 + i % 2] = acc[i];     // STORE
  }
}
