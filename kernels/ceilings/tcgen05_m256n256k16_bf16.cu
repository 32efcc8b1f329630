// tcgen05_m256n256k16_bf16.cu: how fast pairs of multiprocessors multiply m256n256k16 in BF16 when no tile is loaded.
// The speed of light for the b200 ladder: one thread issues for both blocks, random finite tiles in shared memory, two
// accumulators in turns.
// d receives one value a thread, so that the result is looked at; k is the seed.
#include "config.cuh"        // TURNS 512, TILES 4
#include "ptx/cluster.cuh"
#include "ptx/elect.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tcgen05.cuh"
#include "ptx/tma.cuh"

constexpr int NUM_THREADS = 128, TILE_BYTES = (128 + 128) * 128;   // in each block 128 rows of A, 128 of B
constexpr int SMEM_BYTES = TILES * TILE_BYTES + 16;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(NUM_THREADS, 1) gemm(float* d, int seed) {
  extern __shared__ __align__(1024) uint32_t smem[];
  const uint32_t smem_a = __cvta_generic_to_shared(smem), done = smem_a + TILES * TILE_BYTES, slot = done + 8;
  uint32_t state = (blockIdx.x * NUM_THREADS + threadIdx.x) * 2654435761u + seed;
  for (int i = threadIdx.x; i < TILES * TILE_BYTES / 4; i += NUM_THREADS) {
    state = state * 1664525u + 1013904223u;      // two BF16 with magnitude in [1, 2) · 2^-4 and random signs
    smem[i] = ((state >> 3) & 0x807f807fu) | 0x3d803d80u;
  }
  fence_proxy_async();
  if (threadIdx.x == 0) mbarrier_init(done, 1), fence_mbarrier_init();
  cluster_sync();                                // the tiles are there, also for the tensor cores
  if (threadIdx.x < 32) {
    tcgen05_alloc<2>(slot, 512);
    tcgen05_relinquish_alloc_permit<2>();
  }
  cluster_sync();                                // both blocks have their accumulators
  const uint32_t tmem_acc = smem[(slot - smem_a) / 4];

  if (threadIdx.x < 32 && cluster_ctarank() == 0 && elect_one()) {
    const uint64_t a = tcgen05_descriptor_k_major_128b(smem_a), b = tcgen05_descriptor_k_major_128b(smem_a + 128 * 128);
    for (int turn = 0; turn < TURNS; turn++) {
      const uint64_t tile = turn % TILES * (TILE_BYTES / 16);
      #pragma unroll
      for (int step = 0; step < 4; step++)
        tcgen05_mma_f16<2>(tmem_acc + turn % 2 * 256, a + tile + step * 2, b + tile + step * 2,
                           tcgen05_instruction_descriptor_bf16(256, 256), turn > 1 || step > 0);
    }
    tcgen05_commit_multicast<2>(done, 0b11);
  }
  __syncwarp();
  mbarrier_wait_parity(done, 0);                 // every product of the pair
  tcgen05_fence_after_thread_sync();
  float acc[8], other[8];
  tcgen05_ld_32x32b_x8(acc, tmem_acc + (threadIdx.x / 32 * 32 << 16));
  tcgen05_ld_32x32b_x8(other, tmem_acc + 256 + (threadIdx.x / 32 * 32 << 16));
  tcgen05_wait_ld();
  d[blockIdx.x * NUM_THREADS + threadIdx.x] = acc[0] + acc[7] + other[0] + other[7];
  tcgen05_fence_before_thread_sync();
  cluster_sync();                                // nobody needs the accumulators any more
  if (threadIdx.x < 32) tcgen05_dealloc<2>(tmem_acc, 512);
}
