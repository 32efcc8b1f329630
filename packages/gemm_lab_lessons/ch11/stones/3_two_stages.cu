// Stone 3: TMA fetches the next tile while wgmma multiplies this one.
// Launch: lab.kernel("hopper/02", BLOCK_M=64, BLOCK_N=64)
#include <cuda_bf16.h>
#include "config.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma_narrow.cuh"

constexpr int NUM_THREADS = 128, STAGES = 2;  // one warpgroup
constexpr int TILE_A = BLOCK_M * BLOCK_K * 2, STAGE = TILE_A + BLOCK_N * BLOCK_K * 2;
constexpr int SMEM_BYTES = STAGES * (STAGE + 8);  // the launcher reads this name
static_assert(BLOCK_M == 64 && BLOCK_K == 64);

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
     __nv_bfloat16* d, int M, int N, int K) {
  extern __shared__ __align__(1024) uint4 smem[];
  const uint32_t tiles = __cvta_generic_to_shared(smem), full = tiles + STAGES * STAGE;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  float acc[BLOCK_N / 8][4];

  const auto copy = [&](int stage, int k) {
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE);
    tma_load_2d(tiles + stage * STAGE, map_a, k, block_m, full + stage * 8);
    tma_load_2d(tiles + stage * STAGE + TILE_A, map_b, k, block_n, full + stage * 8);
  };
  if (threadIdx.x == 0) {
    for (int i = 0; i < STAGES; i++) mbarrier_init(full + i * 8, 1);
    fence_mbarrier_init();
    for (int i = 0; i < STAGES && i * BLOCK_K < K; i++) copy(i, i * BLOCK_K);
  }
  __syncthreads();

  for (int i = 0; i * BLOCK_K < K; i++) {
    const int stage = i % STAGES;
    mbarrier_wait_parity(full + stage * 8, i / STAGES % 2);  // used i / STAGES times before
    const uint64_t tile_a = wgmma_descriptor(tiles + stage * STAGE);
    const uint64_t tile_b = wgmma_descriptor(tiles + stage * STAGE + TILE_A);
    wgmma_fence();
    for (int k = 0; k < BLOCK_K / 16; k++)
      wgmma_m64k16_bf16(acc, tile_a + k * 2, tile_b + k * 2, i > 0 || k > 0);
    wgmma_commit_group();
    wgmma_wait_group<0>();
    __syncthreads();  // the products of all warps have read this stage
    if (threadIdx.x == 0 && (i + STAGES) * BLOCK_K < K) copy(stage, (i + STAGES) * BLOCK_K);
  }

  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = block_m + warp * 16 + lane / 4, col = block_n + lane % 4 * 2;
  for (int n = 0; n < BLOCK_N / 8; n++)
    for (int half = 0; half < 2; half++)
      *reinterpret_cast<__nv_bfloat162*>(d + (row + half * 8) * N + col + n * 8) =
          __floats2bfloat162_rn(acc[n][half * 2], acc[n][half * 2 + 1]);
}
