// mma_m16n8k8_f16.cu: how fast this GPU multiplies m16n8k8 in FP16 when nothing has to be loaded.
// The speed of light for the t4 ladder: TILES independent accumulators a warp, random finite operands.
// d receives one value a thread, so that the compiler cannot drop the work; k is the seed.
#include "config.cuh"        // TURNS 2048, TILES 8
#include "ptx/mma_sync.cuh"

constexpr int NUM_THREADS = 128;

extern "C" __global__ void __launch_bounds__(NUM_THREADS) gemm(uint32_t* d, int seed) {
  uint32_t acc[TILES][2] = {}, a[TILES][2], b[TILES];
  uint32_t state = (blockIdx.x * NUM_THREADS + threadIdx.x) * 2654435761u + seed;
  auto random_halves = [&] {                     // two halves with magnitude in [1, 2) · 2^-4 and random signs
    state = state * 1664525u + 1013904223u;
    return ((state >> 3) & 0x83ff83ffu) | 0x2c002c00u;
  };
  #pragma unroll
  for (int i = 0; i < TILES; i++) a[i][0] = random_halves(), a[i][1] = random_halves(), b[i] = random_halves();

  #pragma unroll 4
  for (int turn = 0; turn < TURNS; turn++)
    #pragma unroll
    for (int i = 0; i < TILES; i++) mma_m16n8k8_f16(acc[i], a[i], b[i]);

  uint32_t sum = 0;
  #pragma unroll
  for (int i = 0; i < TILES; i++) sum ^= acc[i][0] ^ acc[i][1];
  d[blockIdx.x * NUM_THREADS + threadIdx.x] = sum;
}
