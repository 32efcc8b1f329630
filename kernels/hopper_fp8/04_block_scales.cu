// 04_block_scales.cu: the additions become multiply-adds, with a scale for 128 values of A and one for 128 x 128 of B.
// Extends 02_promoted.cu: 8 bits are enough where magnitudes differ from block to block, and the sums cost no more.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, E4M3 in with scales, BF16 out, FP32 accumulate
// H100, H200.   Notebook 13.
#include "config.cuh"  // BLOCK_M 192, BLOCK_N 128, BLOCK_K 128, NUM_STAGES 4, GROUP_M 8, STORE_N 64
#include "ptx/elect.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/named_barrier.cuh"
#include "ptx/setmaxnreg.cuh"
#include "ptx/tma.cuh"
#include "ptx/wgmma_e4m3.cuh"
#include "tile/block_order.cuh"
#include "tile/store_rows.cuh"

constexpr int MMA_M = 64, MMA_K = 32;
constexpr int NUM_CONSUMERS = BLOCK_M % 192 == 0 ? 3 : 2, NUM_THREADS = (NUM_CONSUMERS + 1) * 128;   // one produces
constexpr int PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = 480 / NUM_CONSUMERS;   // of 65,536
constexpr int ROWS = BLOCK_M / NUM_CONSUMERS, PARTS = ROWS / MMA_M, NUM_WARPS = 4 * NUM_CONSUMERS;   // 64 rows at once
constexpr int STAGE_A = BLOCK_M * BLOCK_K, STAGE_B = BLOCK_N * BLOCK_K, STAGE_BYTES = STAGE_A + STAGE_B;
constexpr int STAGED_BYTES = MMA_M * BLOCK_N * 2;             // rows of D on their way out, for each consumer
constexpr int SMEM_BYTES = NUM_STAGES * (STAGE_BYTES + BLOCK_M * 4 + 16) + NUM_CONSUMERS * STAGED_BYTES;

extern "C" __global__ void __launch_bounds__(NUM_THREADS, 1)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
     const __grid_constant__ CUtensorMap map_d, const __grid_constant__ CUtensorMap map_scale_a,
     const float* __restrict__ scale_b, int M, int N, int K) {
  static_assert(BLOCK_K == 128 && BLOCK_N == 128 && ROWS % MMA_M == 0, "a tile has one scale of B for 128 of K");

  // ---- Where this warpgroup works ----
  const int warpgroup = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);   // the compiler sees: the same in every lane
  const int tiles_m = cdiv(M, BLOCK_M), tiles_n = cdiv(N, BLOCK_N);
  const auto place = [&](int tile) { return grouped_block_order(tile, tiles_m, tiles_n, GROUP_M); };

  // ---- Shared memory and accumulators ----
  extern __shared__ __align__(1024) uint4 smem[];             // [NUM_STAGES]: (BLOCK_M, BLOCK_K), (BLOCK_N, BLOCK_K)
  const uint32_t smem_a = __cvta_generic_to_shared(smem), smem_b = smem_a + STAGE_A;
  const uint32_t staged = smem_a + NUM_STAGES * STAGE_BYTES;  // [NUM_CONSUMERS]: (64, BLOCK_N) of D
  const uint32_t scale_a = staged + NUM_CONSUMERS * STAGED_BYTES;   // [NUM_STAGES]: BLOCK_M scales
  const uint32_t full = scale_a + NUM_STAGES * BLOCK_M * 4;   // [NUM_STAGES] mbarriers: the tiles are there
  const uint32_t empty = full + NUM_STAGES * 8;               // [NUM_STAGES]: the warps' products have read them
  float acc[BLOCK_N / 8][4];                                  // sums of 128 products

  const auto advance = [](int& stage, int& parity) {          // the next buffer of the ring; when the first is next
    if (++stage == NUM_STAGES) stage = 0, parity ^= 1;        // again, its barriers are a phase further
  };

  // region: copy
  const auto copy = [&](int stage, Tile tile, int k_tile) {   // one thread: asks for both tiles and returns
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES + BLOCK_M * 4);   // ends when so many bytes have come
    tma_load_2d(scale_a + stage * BLOCK_M * 4, map_scale_a, tile.m * BLOCK_M, k_tile / BLOCK_K, full + stage * 8);
    tma_load_2d(smem_a + at, map_a, k_tile, tile.m * BLOCK_M, full + stage * 8);
    tma_load_2d(smem_b + at, map_b, k_tile, tile.n * BLOCK_N, full + stage * 8);
  };
  // end region

  const auto release = [&](int stage) {                       // each warp for itself: its products have read the buffer
    if (threadIdx.x % 32 == 0) mbarrier_arrive(empty + stage * 8);
  };

  // region: multiply
  const auto multiply = [&](int stage, int row) {             // issues the products and returns
    const uint64_t tile_a = wgmma_descriptor(smem_a + stage * STAGE_BYTES + row * BLOCK_K);
    const uint64_t tile_b = wgmma_descriptor(smem_b + stage * STAGE_BYTES);
    wgmma_fence();                                            // what the threads did with acc comes before
    #pragma unroll
    for (int k = 0; k < BLOCK_K / MMA_K; k++)                 // 32 values are 32 bytes; the first product replaces
      wgmma_m64k32_e4m3(acc, tile_a + k * 2, tile_b + k * 2, k > 0);
    wgmma_commit_group();
  };
  // end region

  // region: scales
  float scale[2];                                             // for this thread's two rows
  const auto fetch_scales = [&](int stage, int row, const float* of_b) {   // while the products run
    row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    const float* of_a = reinterpret_cast<const float*>(smem) + (scale_a - smem_a) / 4 + stage * BLOCK_M + row;
    scale[0] = of_a[0] * *of_b, scale[1] = of_a[8] * *of_b;
  };
  // end region

  // region: promote
  const auto promote = [&](auto& total) {                     // with all bits of FP32, rounded to nearest
    #pragma unroll
    for (int j = 0; j < BLOCK_N / 8; j++)
      #pragma unroll
      for (int i = 0; i < 4; i++) total[j][i] += acc[j][i] * scale[i / 2];
  };
  // end region

  // ---- Main loop ----
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; i++) mbarrier_init(full + i * 8, 1), mbarrier_init(empty + i * 8, NUM_WARPS);
    fence_mbarrier_init(), tma_prefetch(map_a), tma_prefetch(map_b);
  }
  __syncthreads();                                            // nobody waits on a barrier that is not there yet

  // region: producer
  if (warpgroup == NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();                     // this warpgroup needs few registers,
    int stage = 0, parity = 1;                                // a fresh barrier lets parity 1 pass: buffers are free
    if (threadIdx.x / 32 % 4 == 0 && elect_one())
      for (int index = blockIdx.x; index < tiles_m * tiles_n; index += gridDim.x) {
        const Tile tile = place(index);
        for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, advance(stage, parity)) {
          mbarrier_wait_parity(empty + stage * 8, parity);    // until no product reads this buffer any more
          copy(stage, tile, k_tile);
        }
      }
    return;
  }
  // end region

  setmaxnreg_inc<CONSUMER_REGISTERS>();                       // and those that multiply get what it gave
  int stage = 0, parity = 0;
  for (int index = blockIdx.x; index < tiles_m * tiles_n; index += gridDim.x) {
    // region: consumer
    const Tile tile = place(index);
    const float* of_b = scale_b + tile.n * cdiv(K, BLOCK_K);
    float total[PARTS][BLOCK_N / 8][4] = {};                  // of all so far
    mbarrier_wait_parity(full + stage * 8, parity);           // the tile's bytes have come
    for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K, of_b++) {
      const int read = stage;
      #pragma unroll
      for (int part = 0; part < PARTS; part++) {              // one after the other in the same registers
        const int row = warpgroup * ROWS + part * MMA_M;
        multiply(read, row);
        if (part == PARTS - 1) advance(stage, parity);        // while the products run: until the next tile is there
        if (part == PARTS - 1 && k_tile + BLOCK_K < K) mbarrier_wait_parity(full + stage * 8, parity);
        fetch_scales(read, row, of_b);                        // only now, so that no product waits for a scale
        wgmma_wait_group<0>();                                // acc may be read, and the buffer filled again
        if (part == PARTS - 1) release(read);
        promote(total[part]);
      }
    }
    // end region

    // ---- Epilogue ----
    // region: epilogue
    #pragma unroll
    for (int part = 0; part < PARTS; part++)
      store_rows<STORE_N>(map_d, total[part], tile.n * BLOCK_N, tile.m * BLOCK_M + warpgroup * ROWS + part * MMA_M,
                          staged + warpgroup * STAGED_BYTES, 1 + warpgroup);
    // end region
  }
  if (threadIdx.x % 128 == 0) tma_store_wait_read<0>();       // shared memory outlives the last stores
}
