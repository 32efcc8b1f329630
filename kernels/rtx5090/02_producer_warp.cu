// 02_producer_warp.cu: one warp does nothing but ask for tiles; the others free a buffer by arriving on its mbarrier.
// Extends 01_tma.cu: no barrier of the whole block in the main loop, each warp waits only for what it needs.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// RTX 5090 with the tiles below; H100 and H200 take those of 01_tma.cu (ladder.toml).   Notebook 08.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 128, BLOCK_N 128, BLOCK_K 64, NUM_WARPS_M 2, NUM_WARPS_N 2, NUM_STAGES 3, GROUP_M 16
#include "ptx/ldmatrix.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/mma_sync.cuh"
#include "ptx/named_barrier.cuh"
#include "ptx/setmaxnreg.cuh"
#include "ptx/tma.cuh"
#include "tile/block_order.cuh"
#include "tile/staged_epilogue_bf16.cuh"

constexpr int NUM_CONSUMERS = NUM_WARPS_M * NUM_WARPS_N;      // warps that multiply; behind them a warpgroup to produce
constexpr int NUM_THREADS = NUM_CONSUMERS * 32 + 128;
constexpr int PRODUCER_REGISTERS = 24, CONSUMER_REGISTERS = NUM_CONSUMERS > 4 ? 240 : 248;   // of 65,536
constexpr int WARP_M = BLOCK_M / NUM_WARPS_M, WARP_N = BLOCK_N / NUM_WARPS_N;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16, WAIT_AT = WARP_N / MMA_N * 3 / 8;   // columns before a wait
constexpr int LOADS_A = WARP_M / MMA_M, LOADS_B = WARP_N / (2 * MMA_N);   // ldmatrix for a step of 16
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N * BLOCK_K * 2;   // bytes of a tile
constexpr int STAGE_BYTES = STAGE_A + STAGE_B;
constexpr int SMEM_BYTES = NUM_STAGES * (STAGE_BYTES + 16);   // the tiles, then two mbarriers for each stage

// region: layout
// Where TMA puts 16-byte chunk (row, chunk), in chunks: swizzle "64B" for rows of 64 bytes, "128B"
// for 128. LINE_ROWS rows share the 128 bytes of the 32 banks, a line; its number enters the XOR.
constexpr int CHUNKS = BLOCK_K / 8, LINE_ROWS = 8 / CHUNKS;
__device__ __forceinline__ int chunk_at(int row, int chunk) {
  return row * CHUNKS + (chunk ^ row / LINE_ROWS % CHUNKS);
}
// end region

extern "C" __global__ void __launch_bounds__(NUM_THREADS, 1)
gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b, __nv_bfloat16* gmem_d,
     int M, int N, int K) {
  static_assert(WARP_M % MMA_M == 0 && WARP_N % (2 * MMA_N) == 0, "a warp tile is made of 16 x 16, two mma tiles");
  static_assert(BLOCK_K == 32 || BLOCK_K == 64, "two sets of fragments take turns: an even number of steps of 16");
  static_assert(WARP_N / MMA_N - WAIT_AT >= (LOADS_A + LOADS_B) / 2, "two ldmatrix a column: WARP_N is too small");
  static_assert(NUM_STAGES >= 2, "one tile is multiplied while at least one other is on its way");

  // ---- Where this warp works ----
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const Tile tile = grouped_block_order(blockIdx.y * gridDim.x + blockIdx.x, gridDim.y, gridDim.x, GROUP_M);
  const int block_m = tile.m * BLOCK_M, block_n = tile.n * BLOCK_N;
  const int warp_m = warp / NUM_WARPS_N * WARP_M, warp_n = warp % NUM_WARPS_N * WARP_N;

  // ---- Shared memory and fragments ----
  extern __shared__ __align__(1024) uint4 smem[];             // [NUM_STAGES]: (BLOCK_M, BLOCK_K), (BLOCK_N, BLOCK_K)
  const uint32_t smem_a = shared_address(smem), smem_b = smem_a + STAGE_A;
  float acc[WARP_M / MMA_M][WARP_N / MMA_N][4] = {};
  uint32_t frag_a[2][WARP_M / MMA_M][4];                      // one set is multiplied while the other is loaded
  uint32_t frag_b[2][WARP_N / MMA_N][2];

  // region: addresses
  // The swizzle touches only the bits of an address that choose the chunk. Whole groups of 8 rows leave them alone and
  // are a constant further on; a step of c chunks along the row is an XOR with 16 c bytes.
  const uint32_t lane_a = smem_a + 16 * chunk_at(warp_m + lane % 16, lane / 16);
  const uint32_t lane_b = smem_b + 16 * chunk_at(warp_n + lane / 16 * 8 + lane % 8, lane / 8 % 2);
  // end region

  // region: copy
  const uint32_t full = smem_a + NUM_STAGES * STAGE_BYTES;    // [NUM_STAGES] mbarriers of 8 bytes: the tiles are there
  const uint32_t empty = full + NUM_STAGES * 8;               // [NUM_STAGES]: every consumer warp has read them
  const auto copy = [&](int stage, int k_tile) {              // one thread asks for both tiles
    const uint32_t at = stage * STAGE_BYTES;
    mbarrier_arrive_expect_tx(full + stage * 8, STAGE_BYTES); // the phase ends after so many bytes
    tma_load_2d(smem_a + at, map_a, k_tile, block_m, full + stage * 8);
    tma_load_2d(smem_b + at, map_b, k_tile, block_n, full + stage * 8);
  };
  // end region

  // region: load
  const auto load = [&](int set, int stage, int k, int pair) {   // shared memory to fragments: two ldmatrix of a step's
    #pragma unroll
    for (int i = pair * 2; i < min(pair * 2 + 2, LOADS_A + LOADS_B); i++)
      if (i < LOADS_A)                                        // 16 rows, two chunks: the four 8x8 matrices of A
        ldmatrix_x4(frag_a[set][i][0], frag_a[set][i][1], frag_a[set][i][2], frag_a[set][i][3],
                    ((lane_a + stage * STAGE_BYTES) ^ k * 2) + i * MMA_M * BLOCK_K * 2);
      else {                                                  // 16 rows, two chunks: two mma tiles of B
        const int ni = (i - LOADS_A) * 2;
        ldmatrix_x4(frag_b[set][ni][0], frag_b[set][ni][1], frag_b[set][ni + 1][0], frag_b[set][ni + 1][1],
                    ((lane_b + stage * STAGE_BYTES) ^ k * 2) + ni * MMA_N * BLOCK_K * 2);
      }
  };
  // end region

  // ---- Main loop ----
  if (threadIdx.x == 0) {
    for (int i = 0; i < NUM_STAGES; i++) mbarrier_init(full + i * 8, 1), mbarrier_init(empty + i * 8, NUM_CONSUMERS);
    fence_mbarrier_init();
  }
  __syncthreads();                                            // nobody waits on a barrier that is not there yet

  // region: producer
  if (warp >= NUM_CONSUMERS) {
    setmaxnreg_dec<PRODUCER_REGISTERS>();                     // the producing warpgroup needs few,
    if (threadIdx.x == NUM_CONSUMERS * 32)
      for (int k_tile = 0, stage = 0, parity = 1; k_tile < K; k_tile += BLOCK_K) {
        mbarrier_wait_parity(empty + stage * 8, parity);      // a fresh barrier lets parity 1 pass: buffers are free
        copy(stage, k_tile);
        stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
        parity ^= stage == 0;
      }
    return;
  }
  // end region

  setmaxnreg_inc<CONSUMER_REGISTERS>();                       // and those that multiply get what they gave
  mbarrier_wait_parity(full, 0);                              // the first tile's bytes have come
  #pragma unroll
  for (int i = 0; i < LOADS_A + LOADS_B; i += 2) load(0, 0, 0, i / 2);
  int stage = 0, parity = 0;
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: multiply
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      const bool last = k == BLOCK_K - MMA_K, more = k_tile + BLOCK_K < K;
      const int set = k / MMA_K % 2, read = stage, begin = last ? WAIT_AT : 0;
      if (last) {
        stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
        parity ^= stage == 0;                                 // stage 0 begins the next phase
      }
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni++) {           // columns of products, and between them, for the
        if (last && more && ni == begin) mbarrier_wait_parity(full + stage * 8, parity);   // next step: its bytes
        if (ni >= begin) load(set ^ 1, stage, (k + MMA_K) % BLOCK_K, ni - begin);   // its fragments (past K unused)
        #pragma unroll
        for (int i = 0; i < WARP_M / MMA_M; i++) {            // a snake: one of the fragments stays
          const int mi = ni % 2 ? WARP_M / MMA_M - 1 - i : i;
          mma_m16n8k16_bf16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
        }
      }
      if (last) {
        __syncwarp();                                         // all lanes have what they read of this tile
        if (lane == 0) mbarrier_arrive(empty + read * 8);     // the producer may overwrite it
      }
    }
    // end region
  }

  // ---- Epilogue ----
  // region: epilogue
  named_barrier_sync<1, NUM_CONSUMERS * 32>();                // waits for every consumer's ldmatrix: reuse the tiles
  __nv_bfloat16* const warp_d = gmem_d + static_cast<size_t>(block_m + warp_m) * N + block_n + warp_n;
  store_through_shared<WARP_N>(acc, smem + warp * (MMA_M * WARP_N / 8), warp_d, N);
  // end region
}
