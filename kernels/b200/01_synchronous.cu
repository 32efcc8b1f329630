// 01_synchronous.cu: tcgen05.mma reads shared memory and adds up in tensor memory; one thread waits for each k tile.
// The first rung.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// B200.   Notebook 11.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 128, BLOCK_N 256, BLOCK_K 64, NUM_STAGES 4
#include "ptx/elect.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/named_barrier.cuh"
#include "ptx/tcgen05.cuh"
#include "ptx/tma.cuh"
#include "tile/block_order.cuh"
#include "tile/row_epilogue.cuh"

constexpr int NUM_THREADS = 256, PRODUCER_WARP = 4;           // four warps multiply and store; of the rest one copies
constexpr int MMA_K = 16;                                     // 32 bytes of 16-bit values; M and N are the whole tile's
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N * BLOCK_K * 2;   // bytes of a tile
constexpr int STAGE_BYTES = STAGE_A + STAGE_B, STAGES_BYTES = NUM_STAGES * STAGE_BYTES;
constexpr int SMEM_BYTES = STAGES_BYTES + NUM_STAGES * 16 + 32;   // the tiles, mbarriers, an address in tensor memory

extern "C" __global__ void __launch_bounds__(NUM_THREADS, 1)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* gmem_d,
     int M, int N, int K) {
  static_assert(BLOCK_M == 128 && BLOCK_K == 64, "128 lanes of tensor memory; rows as wide as the swizzle, 128 bytes");
  static_assert(BLOCK_N == 32 || BLOCK_N == 64 || BLOCK_N == 128 || BLOCK_N == 256, "columns come as powers of two");

  // ---- Where this warp works ----
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int tiles_m = M / BLOCK_M, tiles_n = N / BLOCK_N;
  const auto place = [&](int tile) { return Tile{tile / tiles_n, tile % tiles_n}; };   // row by row of tiles

  // ---- Shared memory and tensor memory ----
  extern __shared__ __align__(1024) uint4 smem[];             // [NUM_STAGES]: (BLOCK_M, BLOCK_K), (BLOCK_N, BLOCK_K)
  const uint32_t smem_a = __cvta_generic_to_shared(smem), smem_b = smem_a + STAGE_A;
  const uint32_t full = smem_a + STAGES_BYTES, empty = full + NUM_STAGES * 8;   // [NUM_STAGES]: tiles are there, read
  const uint32_t done = empty + NUM_STAGES * 8;               // what was issued is in the accumulator
  const uint32_t slot = done + 16;                            // where tcgen05.alloc leaves the accumulator's address

  // region: advance
  const auto advance = [](int& stage, int& parity, int stages) {   // to the next buffer of a ring; after its last comes
    stage = stage == stages - 1 ? 0 : stage + 1;              // the first again, whose barriers are a phase further:
    parity ^= stage == 0;                                     // their parity is the other one
  };
  // end region

  // region: copy
  const auto copy = [&](int stage, Tile tile, int k_tile) {   // one thread asks for both tiles
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // the phase ends after so many bytes
    tma_load_2d(smem_a + at, map_a, k_tile, tile.m * BLOCK_M, full + stage * 8);
    tma_load_2d(smem_b + at, map_b, k_tile, tile.n * BLOCK_N, full + stage * 8);
  };
  // end region

  // region: multiply
  constexpr uint32_t INSTRUCTION = tcgen05_instruction_descriptor_bf16(BLOCK_M, BLOCK_N);
  const auto multiply = [&](uint32_t tmem_acc, int stage, int k_tile) {   // one thread multiplies
    const uint64_t tile_a = tcgen05_descriptor_k_major_128b(smem_a + stage * STAGE_BYTES);
    const uint64_t tile_b = tcgen05_descriptor_k_major_128b(smem_b + stage * STAGE_BYTES);
    #pragma unroll
    for (int k2 = 0; k2 < BLOCK_K / MMA_K; k2++) {            // MMA_K values are 32 bytes; a descriptor counts in 16
      const bool accumulate = k_tile > 0 || k2 > 0;           // the first product replaces the tile before
      tcgen05_mma_f16<1>(tmem_acc, tile_a + k2 * 32 / 16, tile_b + k2 * 32 / 16, INSTRUCTION, accumulate);
    }
  };
  // end region

  // region: allocate
  if (warp == 0) {
    tcgen05_alloc<1>(slot, BLOCK_N);                          // 128 lanes x BLOCK_N columns of 32 bits
    tcgen05_relinquish_alloc_permit<1>();
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < NUM_STAGES; i++) mbarrier_init(full + i * 8, 1), mbarrier_init(empty + i * 8, 1);
    mbarrier_init(done, 1);
    fence_mbarrier_init();
  }
  __syncthreads();                                            // all wait for the mbarriers and for the address
  const uint32_t tmem_acc = smem[(slot - smem_a) / 16].x;
  // end region

  // ---- Main loop ----
  // region: producer
  if (warp == PRODUCER_WARP && elect_one()) {
    int stage = 0, parity = 1;                                // a fresh barrier lets parity 1 pass: buffers are free
    for (int index = blockIdx.x; index < tiles_m * tiles_n; index += gridDim.x) {
      const Tile tile = place(index);                         // two divisions, once for a tile
      for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity, NUM_STAGES)) {
        mbarrier_wait_parity(empty + stage * 8, parity);      // until nothing reads this buffer any more
        copy(stage, tile, k_tile);
      }
    }
  }
  // end region

  if (warp >= PRODUCER_WARP) return;
  int stage = 0, parity = 0, done_parity = 0;
  for (int index = blockIdx.x; index < tiles_m * tiles_n; index += gridDim.x) {
    // region: consumer
    if (warp == 0 && elect_one())
      for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity, NUM_STAGES)) {
        mbarrier_wait_parity(full + stage * 8, parity);       // the tile's bytes have come
        tcgen05_fence_after_thread_sync();
        multiply(tmem_acc, stage, k_tile);
        tcgen05_commit<1>(done);                              // arrives there when all is done
        mbarrier_wait_parity(done, done_parity);              // until then nothing else is issued
        done_parity ^= 1;
        mbarrier_arrive(empty + stage * 8);                   // the producer may overwrite the tile
      }
    __syncwarp();
    named_barrier_sync<1, 128>();                             // four warps wait for that thread
    tcgen05_fence_after_thread_sync();
    // end region

    // ---- Epilogue ----
    // region: epilogue
    const Tile tile = place(index);
    const size_t row = tile.m * BLOCK_M + warp * 32 + lane;   // warp w: lanes 32 w to 32 w + 31
    __nv_bfloat16* const row_d = gmem_d + row * N + tile.n * BLOCK_N;
    for (int column = 0; column < BLOCK_N; column += 32) {
      float acc[32];
      tcgen05_ld_32x32b_x32(acc, tmem_acc + (warp * 32 << 16) + column);
      tcgen05_wait_ld();
      store_row(acc, row_d + column);
    }
    tcgen05_fence_before_thread_sync();
    named_barrier_sync<1, 128>();                             // the next tile's products wait for the last load
    // end region
  }
  if (warp == 0) tcgen05_dealloc<1>(tmem_acc, BLOCK_N);
}
