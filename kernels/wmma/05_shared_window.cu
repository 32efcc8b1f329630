// 05_shared_window.cu: wmma at its best: fragments by ldmatrix, loaded one step ahead of the product that needs them.
// Extends 02_staged_prefetch.cu: wmma.load names shared memory, A stays row-major, stores hide between products.
// D[M,N] = A[M,K] · B[K,N]   all row-major FP32, multiplied in BF16, FP32 accumulate
// A100, H100 and what follows.   Notebook 09.
#include "config.cuh"        // BF16 1, BLOCK_M 128, BLOCK_N 256, BLOCK_K 32, NUM_WARPS_M 2, NUM_WARPS_N 4, K_UNROLL 1,
                             // PADDING 8, SERPENTINE 1, MIN_BLOCKS 1, NUM_STAGES 3
#include "ptx/ldmatrix.cuh"
#include "ptx/wmma.cuh"
#include "tile/narrow.cuh"

constexpr int NUM_THREADS = NUM_WARPS_M * NUM_WARPS_N * 32;
constexpr int WARP_M = BLOCK_M / NUM_WARPS_M, WARP_N = BLOCK_N / NUM_WARPS_N;
constexpr int MMA = 16, TILES_M = WARP_M / MMA, TILES_N = WARP_N / MMA;   // wmma tiles of a warp
constexpr int STEP_K = BLOCK_K * K_UNROLL;                    // what lies between two barriers
constexpr int PITCH_A = (STEP_K + PADDING) * 2, PITCH_B = (BLOCK_N + PADDING) * 2;   // bytes from row to row
constexpr int STAGE_A = BLOCK_M * PITCH_A, STAGE_B = STEP_K * PITCH_B;   // bytes in one buffer
constexpr int SMEM_BYTES = NUM_STAGES * (STAGE_A + STAGE_B);
constexpr int CHUNKS_A = BLOCK_M * STEP_K / 4 / NUM_THREADS, CHUNKS_B = BLOCK_N * STEP_K / 4 / NUM_THREADS;
constexpr int ROWS_A = NUM_THREADS * 4 / STEP_K, ROWS_B = NUM_THREADS * 4 / BLOCK_N;   // rows that one pass copies

extern "C" __global__ void __launch_bounds__(NUM_THREADS, MIN_BLOCKS)
gemm(const float* gmem_a, const float* gmem_b, float* gmem_d, int M, int N, int K) {
  static_assert(BF16 == 1, "the loads of ptx/wmma.cuh take BF16");
  static_assert(STEP_K % 32 == 0 && TILES_N % 2 == 0 && TILES_M <= TILES_N, "two sets of fragments take turns");
  static_assert(NUM_STAGES >= 3, "stores may overtake the last fragments of the tile before: a third buffer");
  static_assert(ROWS_A % 8 == 0 && ROWS_B > 0 && CHUNKS_A * ROWS_A == BLOCK_M && CHUNKS_B * ROWS_B == STEP_K,
                "one pass of all threads must copy 8 rows of A or a multiple, and whole rows of B");

  // ---- Where this warp works ----
  const int warp = threadIdx.x / 32;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  const int warp_m = warp / NUM_WARPS_N * WARP_M, warp_n = warp % NUM_WARPS_N * WARP_N;

  // ---- Shared memory and fragments ----
  extern __shared__ __align__(128) uint8_t smem_a[];          // [NUM_STAGES] (BLOCK_M, STEP_K)
  uint8_t* const smem_b = smem_a + NUM_STAGES * STAGE_A;      // [NUM_STAGES] (STEP_K, BLOCK_N)
  float4 next_a[CHUNKS_A], next_b[CHUNKS_B];                  // this thread's share of the next tile
  uint32_t frag_a[2][TILES_M][4], frag_b[2][4];               // one set is multiplied while the other is loaded
  float acc[TILES_M][TILES_N][8] = {};

  // region: addresses
  // 16 lanes store 8 bytes each in one wavefront, two rows of A. Rows four apart fall into different banks: with 80
  // bytes from row to row they lie 320 bytes from each other, that is 64 more than two whole turns of the banks.
  const int pair = threadIdx.x / (STEP_K / 4), col_a = threadIdx.x % (STEP_K / 4) * 4;
  const int row_a = pair / 8 * 8 + pair % 2 * 4 + pair / 2 % 4;
  const int row_b = threadIdx.x / (BLOCK_N / 4), col_b = threadIdx.x % (BLOCK_N / 4) * 4;
  gmem_a += static_cast<size_t>(block_m + row_a) * K + col_a;
  gmem_b += static_cast<size_t>(row_b) * N + block_n + col_b;
  uint8_t *to_a = smem_a + row_a * PITCH_A + col_a * 2, *to_b = smem_b + row_b * PITCH_B + col_b * 2;
  const uint32_t warp_a = shared_address(smem_a) + warp_m * PITCH_A, warp_b = shared_address(smem_b) + warp_n * 2;
  // end region

  // region: copy
  const auto fetch_a = [&](bool more) {                       // global memory to registers, no wait
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++)
      next_a[i] = *reinterpret_cast<const float4*>(gmem_a + static_cast<size_t>(i * ROWS_A) * K);
    gmem_a += more ? STEP_K : 0;                              // the last tile is fetched again rather than branch
  };
  const auto fetch_b = [&](bool more) {
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++)
      next_b[i] = *reinterpret_cast<const float4*>(gmem_b + static_cast<size_t>(i * ROWS_B) * N);
    gmem_b += more ? static_cast<size_t>(STEP_K) * N : 0;
  };
  const auto store_a = [&](int stage) {                       // registers to shared memory, rounded on the way
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++)
      *reinterpret_cast<uint64_t*>(to_a + stage * STAGE_A + i * ROWS_A * PITCH_A) = narrow<BF16>(next_a[i]);
  };
  const auto store_b = [&](int stage) {
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++)
      *reinterpret_cast<uint64_t*>(to_b + stage * STAGE_B + i * ROWS_B * PITCH_B) = narrow<BF16>(next_b[i]);
  };
  // end region

  // region: load
  const auto load_a = [&](int set, int stage, int k, int mi) {
    wmma_load_a_bf16(frag_a[set][mi], warp_a + stage * STAGE_A + mi * MMA * PITCH_A + k * 2, PITCH_A / 2);
  };
  const auto load_b = [&](int set, int stage, int k, int ni) {
    wmma_load_b_bf16(frag_b[set], warp_b + stage * STAGE_B + k * PITCH_B + ni * MMA * 2, PITCH_B / 2);
  };
  // end region

  // ---- Main loop ----
  fetch_a(STEP_K < K), fetch_b(STEP_K < K);
  store_a(0), store_b(0);
  fetch_a(2 * STEP_K < K), fetch_b(2 * STEP_K < K);
  __syncthreads();                                            // the first tile is complete
  #pragma unroll
  for (int mi = 0; mi < TILES_M; mi++) load_a(0, 0, 0, mi);
  load_b(0, 0, 0, 0);
  int stage = 0, next = 1;
  for (int k_tile = 0; k_tile < K; k_tile += STEP_K) {
    // region: multiply
    #pragma unroll
    for (int k = 0; k < STEP_K; k += MMA) {
      const int set = k / MMA % 2, next_k = (k + MMA) % STEP_K;
      const int now = stage;
      if (next_k == 0) {
        __syncthreads();                                      // waits for the next tile's stores
        stage = next;
        next = next == NUM_STAGES - 1 ? 0 : next + 1;
      }
      #pragma unroll
      for (int ni = 0; ni < TILES_N; ni++) {                  // one column of tiles; the loads are for the next one
        if (ni + 1 < TILES_N) load_b((ni + 1) % 2, now, k, ni + 1);
        else load_b(0, stage, next_k, 0);
        if (ni < TILES_M) load_a(set ^ 1, stage, next_k, ni);
        #pragma unroll
        for (int step = 0; step < TILES_M; step++) {          // serpentine: odd columns of tiles go upwards
          const int mi = SERPENTINE && ni % 2 ? TILES_M - 1 - step : step;
          wmma_mma_bf16(acc[mi][ni], frag_a[set][mi], frag_b[ni % 2]);
        }
        if (k == 0 && ni == 0) store_a(next), fetch_a(k_tile + 3 * STEP_K < K);   // in flight for a whole tile
        if (k == 0 && ni == 1) store_b(next), fetch_b(k_tile + 3 * STEP_K < K);   // (the last store is read by nobody)
      }
    }
    // end region
  }

  // ---- Epilogue ----
  // region: epilogue
  float* const warp_d = gmem_d + static_cast<size_t>(block_m + warp_m) * N + block_n + warp_n;
  #pragma unroll
  for (int mi = 0; mi < TILES_M; mi++)
    #pragma unroll
    for (int ni = 0; ni < TILES_N; ni++)
      wmma_store_d_f32(warp_d + static_cast<size_t>(mi * MMA) * N + ni * MMA, acc[mi][ni], N);
  // end region
}
