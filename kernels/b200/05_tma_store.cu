// 05_tma_store.cu: D leaves through shared memory in whole rows, and tiles that share rows of A or B run together.
// Extends 04_cta_pairs.cu: each warp stages 32 x 64 values and TMA stores them; a grouped block order for the L2 cache.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// B200.   Notebook 11.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 128, BLOCK_N 256, BLOCK_K 64, NUM_STAGES 6, GROUP_M 8
#include "ptx/cluster.cuh"
#include "ptx/elect.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/tcgen05.cuh"
#include "ptx/tma_pair.cuh"
#include "tile/block_order.cuh"
#include "tile/row_epilogue.cuh"

constexpr int NUM_THREADS = 256, PRODUCER_WARP = 4, CONSUMER_WARP = 5;   // four warps store; one copies, one multiplies
constexpr int MMA_K = 16;                                     // 32 bytes of 16-bit values; M and N are the whole tile's
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N / 2 * BLOCK_K * 2;   // of a tile, of half a tile
constexpr int STAGE_BYTES = STAGE_A + STAGE_B, STAGES_BYTES = NUM_STAGES * STAGE_BYTES;
constexpr int STORE_N = 64, STORE_BYTES = 32 * STORE_N * 2, STAGED_BYTES = 8 * STORE_BYTES;   // two for each of 4 warps
constexpr int SMEM_BYTES = STAGES_BYTES + STAGED_BYTES + NUM_STAGES * 16 + 48;   // with mbarriers and an address

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(NUM_THREADS, 1)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
     const __grid_constant__ CUtensorMap map_d, int M, int N, int K) {
  static_assert(BLOCK_M == 128 && BLOCK_K == 64, "128 lanes of tensor memory; rows as wide as the swizzle, 128 bytes");
  static_assert(BLOCK_N == 128 || BLOCK_N == 256, "columns come as powers of two, and two buffers take turns to store");

  // ---- Where this warp works ----
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint32_t rank = cluster_ctarank();                    // 0: the upper 128 rows, and multiplies; 1: the lower
  const int tiles_m = M / (2 * BLOCK_M), tiles_n = N / BLOCK_N;
  const auto place = [&](int tile) { return grouped_block_order(tile, tiles_m, tiles_n, GROUP_M); };

  // ---- Shared memory and tensor memory ----
  extern __shared__ __align__(1024) uint4 smem[];           // [NUM_STAGES]: (BLOCK_M, BLOCK_K), (BLOCK_N / 2, BLOCK_K)
  const uint32_t smem_a = __cvta_generic_to_shared(smem), smem_b = smem_a + STAGE_A;
  const uint32_t full = smem_a + STAGES_BYTES + STAGED_BYTES, empty = full + NUM_STAGES * 8;   // [NUM_STAGES] each
  const uint32_t acc_full = empty + NUM_STAGES * 8, acc_empty = acc_full + 16;   // [2]: a tile of D is there, is read
  const uint32_t slot = acc_empty + 16;                       // where tcgen05.alloc leaves the accumulators' address

  // region: advance
  const auto advance = [](int& stage, int& parity, int stages) {   // to the next buffer of a ring; after its last comes
    stage = stage == stages - 1 ? 0 : stage + 1;              // the first again, whose barriers are a phase further:
    parity ^= stage == 0;                                     // their parity is the other one
  };
  // end region

  // region: copy
  const uint32_t pair_full = mapa(full, 0), pair_acc_empty = mapa(acc_empty, 0);   // the first block's mbarriers
  const auto copy = [&](int stage, Tile tile, int k_tile) {   // one thread of each block: its rows of A, its half of B
    const uint32_t at = stage * STAGE_BYTES, barrier = pair_full + stage * 8;
    if (rank == 0) mbarrier_arrive_expect_tx(full + stage * 8, 2 * STAGE_BYTES);   // the bytes of both blocks
    tma_load_2d_pair(smem_a + at, map_a, k_tile, (tile.m * 2 + rank) * BLOCK_M, barrier);
    tma_load_2d_pair(smem_b + at, map_b, k_tile, tile.n * BLOCK_N + rank * BLOCK_N / 2, barrier);
  };
  // end region

  // region: multiply
  constexpr uint32_t INSTRUCTION = tcgen05_instruction_descriptor_bf16(2 * BLOCK_M, BLOCK_N);
  const auto multiply = [&](uint32_t tmem_acc, int stage, int k_tile) {   // one thread multiplies
    const uint64_t tile_a = tcgen05_descriptor_k_major_128b(smem_a + stage * STAGE_BYTES);
    const uint64_t tile_b = tcgen05_descriptor_k_major_128b(smem_b + stage * STAGE_BYTES);
    #pragma unroll
    for (int k = 0; k < BLOCK_K / MMA_K; k++)                 // 16 values are 32 bytes; the first product replaces
      tcgen05_mma_f16<2>(tmem_acc, tile_a + k * 2, tile_b + k * 2, INSTRUCTION, k_tile > 0 || k > 0);
  };
  // end region

  // region: allocate
  cluster_sync();                                             // both blocks wait for each other: allocating takes two
  if (warp == 0) {
    tcgen05_alloc<2>(slot, 2 * BLOCK_N);                      // two accumulators of 128 lanes x BLOCK_N columns
    tcgen05_relinquish_alloc_permit<2>();
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < NUM_STAGES; i++) mbarrier_init(full + i * 8, 1), mbarrier_init(empty + i * 8, 1);
    for (int i = 0; i < 2; i++) mbarrier_init(acc_full + i * 8, 1), mbarrier_init(acc_empty + i * 8, 8);
    fence_mbarrier_init();
  }
  cluster_sync();                                             // all of both blocks wait for mbarriers and addresses
  const uint32_t tmem_acc = smem[(slot - smem_a) / 16].x;
  // end region

  // ---- Main loop ----
  // region: producer
  if (warp == PRODUCER_WARP && elect_one()) {
    int stage = 0, parity = 1;                                // a fresh barrier lets parity 1 pass: buffers are free
    for (int index = blockIdx.x / 2; index < tiles_m * tiles_n; index += gridDim.x / 2) {
      const Tile tile = place(index);                         // two divisions, once for a tile
      for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity, NUM_STAGES)) {
        mbarrier_wait_parity(empty + stage * 8, parity);      // until nothing reads this buffer any more
        copy(stage, tile, k_tile);
      }
    }
    for (int i = 0; i < NUM_STAGES; i++, advance(stage, parity, NUM_STAGES))
      mbarrier_wait_parity(empty + stage * 8, parity);        // the last arrivals come before this block may end
  }
  // end region

  // region: consumer
  if (warp == CONSUMER_WARP && rank == 0 && elect_one()) {
    int stage = 0, parity = 0, buffer = 0, buffer_parity = 1;
    for (int index = blockIdx.x / 2; index < tiles_m * tiles_n; index += gridDim.x / 2) {
      mbarrier_wait_parity(acc_empty + buffer * 8, buffer_parity);   // until the tile before last has been read
      for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity, NUM_STAGES)) {
        mbarrier_wait_parity(full + stage * 8, parity);       // the tile's bytes have come
        tcgen05_fence_after_thread_sync();
        multiply(tmem_acc + buffer * BLOCK_N, stage, k_tile);
        tcgen05_commit_multicast<2>(empty + stage * 8, 0b11); // arrives in both blocks when these products are done
      }
      tcgen05_commit_multicast<2>(acc_full + buffer * 8, 0b11);   // and here when the tile of D is
      advance(buffer, buffer_parity, 2);
    }
  }
  // end region

  if (warp >= PRODUCER_WARP) return;
  // ---- Epilogue ----
  // region: epilogue
  int buffer = 0, buffer_parity = 0;
  for (int index = blockIdx.x / 2; index < tiles_m * tiles_n; index += gridDim.x / 2) {
    mbarrier_wait_parity(acc_full + buffer * 8, buffer_parity);   // the tile's last product
    tcgen05_fence_after_thread_sync();
    const Tile tile = place(index);
    const int row = (tile.m * 2 + rank) * BLOCK_M + warp * 32;   // warp w: lanes 32 w to 32 w + 31
    for (int column = 0; column < BLOCK_N; column += STORE_N) {
      float acc[2][32];
      for (int half = 0; half < 2; half++)
        tcgen05_ld_32x32b_x32(acc[half], tmem_acc + buffer * BLOCK_N + (warp * 32 << 16) + column + half * 32);
      if (elect_one()) tma_store_wait_read<1>();              // the store before last no longer reads its buffer,
      __syncwarp();                                           // and all lanes wait for that
      tcgen05_wait_ld();
      const int staged = STAGES_BYTES + (warp * 2 + column / STORE_N % 2) * STORE_BYTES;
      #pragma unroll
      for (int chunk = 0; chunk < STORE_N / 8; chunk++)       // the 128-byte swizzle that map_d names
        smem[staged / 16 + lane * 8 + (chunk ^ lane % 8)] = bf16_chunk(acc[chunk / 4], chunk % 4);
      fence_proxy_async();                                    // TMA sees what this lane has written,
      __syncwarp();                                           // and one lane waits for all
      if (elect_one()) tma_store_2d(map_d, tile.n * BLOCK_N + column, row, smem_a + staged), tma_store_commit();
    }
    tcgen05_fence_before_thread_sync();
    __syncwarp();                                             // all lanes have what they loaded
    if (lane == 0) mbarrier_arrive_cluster(pair_acc_empty + buffer * 8);   // the tile after next may overwrite it
    advance(buffer, buffer_parity, 2);
  }
  // end region
  if (elect_one()) tma_store_wait_read<0>();                  // shared memory outlives the last stores
  cluster_sync();                                             // the warps that give back wait for all others' loads
  if (warp == 0) tcgen05_dealloc<2>(tmem_acc, 2 * BLOCK_N);
}
