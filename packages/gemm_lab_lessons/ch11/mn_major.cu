// One block, one k tile: D (64, 128) = A (64, 64) · B (64, 128). A is K-major. B lies row by row, so
// its neighbours in memory are neighbours along N: it is MN-major. `words` are the descriptors of B for
// k = 0, 16, 32, 48, with the start counted from the beginning of the tile. Notebook 11b.
#include "config.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma.cuh"

constexpr int TILE_A = 64 * 64 * 2, TILE_B = 64 * 128 * 2;  // bytes

extern "C" __global__ void __launch_bounds__(128)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
     const uint64_t* words, float* d) {
  extern __shared__ __align__(1024) uint4 smem[];
  const uint32_t tile_a = __cvta_generic_to_shared(smem);
  const uint32_t tile_b = tile_a + TILE_A, full = tile_b + TILE_B;
  if (threadIdx.x == 0) {
    mbarrier_init(full, 1);
    fence_mbarrier_init();
    mbarrier_arrive_expect_tx(full, TILE_A + TILE_B);
    tma_load_2d(tile_a, map_a, 0, 0, full);
    tma_load_2d(tile_b, map_b, 0, 0, full);  // columns 0 to 63 of all 64 rows: 128 bytes a row
    tma_load_2d(tile_b + TILE_B / 2, map_b, 64, 0, full);  // columns 64 to 127
  }
  __syncthreads();
  mbarrier_wait_parity(full, 0);

  float acc[16][4];
  wgmma_fence();
  for (int k = 0; k < 4; k++)
    wgmma_m64k16_bf16(acc, wgmma_descriptor(tile_a) + k * 2, words[k] + (tile_b >> 4), k > 0);
  wgmma_commit_group();
  wgmma_wait_group<0>();

  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (int n = 0; n < 16; n++)
    for (int i = 0; i < 4; i++)
      d[(row + i / 2 * 8) * 128 + n * 8 + lane % 4 * 2 + i % 2] = acc[n][i];
}
