// wgmma_m64n256k32_e4m3.cu: how fast a Hopper GPU multiplies m64n256k32 in FP8 when its tiles need no loading.
// The speed of light for the ladder in 8 bits, in the form of wgmma_m64n256k16_bf16.cu: the same bytes, twice the
// products.
// d receives one value a thread, so that the compiler cannot drop the work; k is the seed.
#include "config.cuh"        // TURNS 512, TILES 4
#include "ptx/fence_proxy.cuh"
#include "ptx/wgmma.cuh"
#include "ptx/wgmma_e4m3.cuh"

constexpr int NUM_THREADS = 256, TILE_BYTES = (128 + 256) * 128;
constexpr int SMEM_BYTES = TILES * TILE_BYTES;

extern "C" __global__ void __launch_bounds__(NUM_THREADS, 1) gemm(float* d, int seed) {
  extern __shared__ __align__(1024) uint32_t smem[];
  uint32_t state = (blockIdx.x * NUM_THREADS + threadIdx.x) * 2654435761u + seed;
  for (int i = threadIdx.x; i < SMEM_BYTES / 4; i += NUM_THREADS) {
    state = state * 1664525u + 1013904223u;      // four E4M3 with magnitude in [1, 2) · 2^-4 and random signs
    smem[i] = ((state >> 3) & 0x87878787u) | 0x18181818u;
  }
  fence_proxy_async();
  __syncthreads();                               // the tiles are there, also for the tensor cores

  float acc[32][4];
  const uint32_t smem_a = static_cast<uint32_t>(__cvta_generic_to_shared(smem)), smem_b = smem_a + 128 * 128;
  const uint64_t a = wgmma_descriptor(smem_a + threadIdx.x / 128 * 64 * 128), b = wgmma_descriptor(smem_b);
  wgmma_fence();
  for (int turn = 0; turn < TURNS; turn++) {
    const uint64_t tile = turn % TILES * (TILE_BYTES / 16);
    #pragma unroll
    for (int step = 0; step < 4; step++)
      wgmma_m64k32_e4m3(acc, a + tile + step * 2, b + tile + step * 2, turn > 0 || step > 0);
    wgmma_commit_group();
    wgmma_wait_group<1>();
  }
  wgmma_wait_group<0>();
  float sum = 0;
  #pragma unroll
  for (int i = 0; i < 32; i++) sum += acc[i][0] + acc[i][1] + acc[i][2] + acc[i][3];
  d[blockIdx.x * NUM_THREADS + threadIdx.x] = sum;
}
