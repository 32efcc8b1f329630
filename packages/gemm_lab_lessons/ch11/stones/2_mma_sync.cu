// Stone 2: tiles in shared memory, fragments, mma.sync.
// Launch: lab.kernel("hopper/01", BLOCK_M=64, BLOCK_N=64)
#include <cuda_bf16.h>
#include "config.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mma_sync.cuh"

constexpr int NUM_THREADS = 128, ROW = BLOCK_K + 8;  // rows with 16 bytes more: no conflicts
static_assert(BLOCK_M == 64 && BLOCK_N == 64 && BLOCK_K == 64);

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* d, int M, int N, int K) {
  __shared__ __align__(16) __nv_bfloat16 tile_a[BLOCK_M * ROW], tile_b[BLOCK_N * ROW];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  float acc[BLOCK_N / 8][4] = {};  // a warp has 16 rows and all columns of the tile

  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    for (int i = threadIdx.x; i < BLOCK_M * BLOCK_K / 8; i += NUM_THREADS) {  // 16 bytes at a time
      const int row = i / (BLOCK_K / 8), k = i % (BLOCK_K / 8) * 8;
      *reinterpret_cast<uint4*>(tile_a + row * ROW + k) =
          *reinterpret_cast<const uint4*>(a + (block_m + row) * K + k_tile + k);
      *reinterpret_cast<uint4*>(tile_b + row * ROW + k) =
          *reinterpret_cast<const uint4*>(b + (block_n + row) * K + k_tile + k);
    }
    __syncthreads();  // the tiles are complete
    for (int k = 0; k < BLOCK_K; k += 16) {
      uint32_t frag_a[4];
      ldmatrix_x4(frag_a[0], frag_a[1], frag_a[2], frag_a[3],
                  shared_address(tile_a + (warp * 16 + lane % 16) * ROW + k + lane / 16 * 8));
      for (int n = 0; n < BLOCK_N / 8; n++) {
        uint32_t frag_b[2];
        ldmatrix_x2(frag_b[0], frag_b[1],
                    shared_address(tile_b + (n * 8 + lane % 8) * ROW + k + lane / 8 % 2 * 8));
        mma_m16n8k16_bf16(acc[n], frag_a, frag_b);
      }
    }
    __syncthreads();  // all have read: the tiles may be written again
  }

  const int row = block_m + warp * 16 + lane / 4, col = block_n + lane % 4 * 2;
  for (int n = 0; n < BLOCK_N / 8; n++)
    for (int half = 0; half < 2; half++)
      *reinterpret_cast<__nv_bfloat162*>(d + (row + half * 8) * N + col + n * 8) =
          __floats2bfloat162_rn(acc[n][half * 2], acc[n][half * 2 + 1]);
}
