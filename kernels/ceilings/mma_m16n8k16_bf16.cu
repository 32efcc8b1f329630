// mma_m16n8k16_bf16.cu: how fast this GPU multiplies m16n8k16 in BF16 when nothing has to be loaded.
// The speed of light for the mma.sync ladders: TILES independent accumulators a warp, random finite operands.
// d receives one value a thread, so that the compiler cannot drop the work; k is the seed.
#include "config.cuh"        // TURNS 2048, TILES 8
#include "ptx/mma_sync.cuh"

constexpr int NUM_THREADS = 128;

extern "C" __global__ void __launch_bounds__(NUM_THREADS) gemm(float* d, int seed) {
  float acc[TILES][4] = {};
  uint32_t a[TILES][4], b[TILES][2];
  uint32_t state = (blockIdx.x * NUM_THREADS + threadIdx.x) * 2654435761u + seed;
  auto random_pair = [&] {                       // two BF16 with magnitude in [1, 2) · 2^-4 and random signs
    state = state * 1664525u + 1013904223u;
    return ((state >> 3) & 0x807f807fu) | 0x3d803d80u;
  };
  #pragma unroll
  for (int i = 0; i < TILES; i++) {
    #pragma unroll
    for (int r = 0; r < 4; r++) a[i][r] = random_pair();
    b[i][0] = random_pair(), b[i][1] = random_pair();
  }

  #pragma unroll 4
  for (int turn = 0; turn < TURNS; turn++)
    #pragma unroll
    for (int i = 0; i < TILES; i++) mma_m16n8k16_bf16(acc[i], a[i], b[i]);

  float sum = 0;
  #pragma unroll
  for (int i = 0; i < TILES; i++) sum += acc[i][0] + acc[i][1] + acc[i][2] + acc[i][3];
  d[blockIdx.x * NUM_THREADS + threadIdx.x] = sum;
}
