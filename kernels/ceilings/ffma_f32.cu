// ffma_f32.cu: how fast this GPU multiplies and adds in FP32 when nothing has to be loaded.
// The speed of light for the simt ladder: TILES · 4 independent sums a thread, random finite operands.
// d receives one value a thread, so that the compiler cannot drop the work; k is the seed.
#include "config.cuh"        // TURNS 2048, TILES 8

constexpr int NUM_THREADS = 256, SUMS = TILES * 4;

extern "C" __global__ void __launch_bounds__(NUM_THREADS) gemm(uint32_t* d, int seed) {
  float acc[SUMS];
  uint32_t state = (blockIdx.x * NUM_THREADS + threadIdx.x) * 2654435761u + seed;
  auto random_float = [&] {                      // magnitude below 1, random sign
    state = state * 1664525u + 1013904223u;
    return static_cast<int>(state) * 4.6566e-10f;
  };
  #pragma unroll
  for (int i = 0; i < SUMS; i++) acc[i] = random_float();
  const float a = random_float(), b = random_float();

  #pragma unroll 4
  for (int turn = 0; turn < TURNS; turn++)
    #pragma unroll
    for (int i = 0; i < SUMS; i++) acc[i] = acc[i] * a + b;

  float sum = 0.0f;
  #pragma unroll
  for (int i = 0; i < SUMS; i++) sum += acc[i];
  d[blockIdx.x * NUM_THREADS + threadIdx.x] = __float_as_uint(sum);
}
