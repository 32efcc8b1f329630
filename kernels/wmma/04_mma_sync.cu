// 04_mma_sync.cu: ldmatrix and mma.sync in place of wmma: any layout whose 8 rows of 16 bytes have addresses.
// Extends 02_staged_prefetch.cu: A stays row-major, and rows may be swizzled, which one base and one stride cannot say.
// D[M,N] = A[M,K] · B[K,N]   all row-major FP32, multiplied in BF16, FP32 accumulate
// A100, H100 and what follows.   Notebook 09.
#include "config.cuh"        // BF16 1, BLOCK_M 128, BLOCK_N 256, BLOCK_K 32, NUM_WARPS_M 2, NUM_WARPS_N 4, K_UNROLL 1,
                             // PADDING 8, SERPENTINE 0, MIN_BLOCKS 1, NUM_STAGES 2, SWIZZLE 0
#include "ptx/ldmatrix.cuh"
#include "ptx/mma_sync.cuh"
#include "tile/narrow.cuh"

using element = Element<BF16>::type;
constexpr int NUM_THREADS = NUM_WARPS_M * NUM_WARPS_N * 32;
constexpr int WARP_M = BLOCK_M / NUM_WARPS_M, WARP_N = BLOCK_N / NUM_WARPS_N;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int STEP_K = BLOCK_K * K_UNROLL;                    // k tiles between two barriers: K_UNROLL
constexpr int PITCH_A = STEP_K + PADDING, PITCH_B = BLOCK_N + PADDING;    // elements from one row to the next
constexpr int STAGE_A = BLOCK_M * PITCH_A, STAGE_B = STEP_K * PITCH_B;     // elements in one buffer
constexpr int SMEM_BYTES = NUM_STAGES * (STAGE_A + STAGE_B) * 2;
constexpr int CHUNKS_A = BLOCK_M * STEP_K / 4 / NUM_THREADS, CHUNKS_B = BLOCK_N * STEP_K / 4 / NUM_THREADS;
constexpr int ROWS_A = NUM_THREADS * 4 / STEP_K, ROWS_B = NUM_THREADS * 4 / BLOCK_N;   // rows that one pass copies

// region: layout
// Where element (row, column) lies in a tile. The XOR moves whole chunks of 8 elements, so that the same chunk of 8
// rows lies in 8 places of a 128-byte line; two rows of A, 64 bytes each with STEP_K = 32, share a line.
__device__ __forceinline__ int at_a(int row, int k) {
  return row * PITCH_A + (SWIZZLE ? k ^ (STEP_K == 32 ? row / 2 % 4 : row % 8) * 8 : k);
}
__device__ __forceinline__ int at_b(int k, int col) { return k * PITCH_B + (SWIZZLE ? col ^ k % 8 * 8 : col); }
// end region

extern "C" __global__ void __launch_bounds__(NUM_THREADS, MIN_BLOCKS)
gemm(const float* gmem_a, const float* gmem_b, float* gmem_d, int M, int N, int K) {
  static_assert(BF16 == 1, "mma_m16n8k16_bf16 multiplies BF16");
  static_assert(WARP_M % 16 == 0 && WARP_N % 16 == 0 && BLOCK_K % 16 == 0, "warp tiles are made of 16 x 16 x 16");
  static_assert(PADDING % 8 == 0, "ldmatrix wants rows that begin at a multiple of 16 bytes");
  static_assert(!SWIZZLE || STEP_K == 32 || STEP_K % 64 == 0, "a swizzled row of A is 64 bytes or whole lines of 128");
  static_assert(NUM_STAGES >= 2, "one buffer is multiplied while another is filled");
  static_assert(ROWS_A > 0 && ROWS_B > 0 && CHUNKS_A * ROWS_A == BLOCK_M && CHUNKS_B * ROWS_B == STEP_K,
                "one pass of all threads must copy whole rows: make the tiles smaller or use more warps");

  // ---- Where this warp works ----
  const int warp = threadIdx.x / 32;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  const int warp_m = warp / NUM_WARPS_N * WARP_M, warp_n = warp % NUM_WARPS_N * WARP_N;
  const int row_a = threadIdx.x / (STEP_K / 4), col_a = threadIdx.x % (STEP_K / 4) * 4;   // this thread's first chunk
  const int row_b = threadIdx.x / (BLOCK_N / 4), col_b = threadIdx.x % (BLOCK_N / 4) * 4;
  gmem_a += static_cast<size_t>(block_m + row_a) * K + col_a;
  gmem_b += static_cast<size_t>(row_b) * N + block_n + col_b;

  // ---- Shared memory and fragments ----
  extern __shared__ __align__(128) element smem_a[];          // [NUM_STAGES] (BLOCK_M, STEP_K)
  element* const smem_b = smem_a + NUM_STAGES * STAGE_A;      // [NUM_STAGES] (STEP_K, BLOCK_N)
  float4 next_a[CHUNKS_A], next_b[CHUNKS_B];                  // this thread's share of a tile on its way
  uint32_t frag_a[WARP_M / MMA_M][4], frag_b[WARP_N / MMA_N][2];
  float acc[WARP_M / MMA_M][WARP_N / MMA_N][4] = {};
  const int lane = threadIdx.x % 32;

  // region: fetch
  const auto fetch = [&] {                                    // global memory to registers, no wait
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++)
      next_a[i] = *reinterpret_cast<const float4*>(gmem_a + static_cast<size_t>(i * ROWS_A) * K);
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++)
      next_b[i] = *reinterpret_cast<const float4*>(gmem_b + static_cast<size_t>(i * ROWS_B) * N);
    gmem_a += STEP_K;
    gmem_b += static_cast<size_t>(STEP_K) * N;
  };
  // end region

  // region: store
  const auto store = [&](int stage) {                         // registers to shared memory, rounded on the way
    element *to_a = smem_a + stage * STAGE_A, *to_b = smem_b + stage * STAGE_B;
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++)
      *reinterpret_cast<uint64_t*>(&to_a[at_a(row_a + i * ROWS_A, col_a)]) = narrow<BF16>(next_a[i]);
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++)
      *reinterpret_cast<uint64_t*>(&to_b[at_b(row_b + i * ROWS_B, col_b)]) = narrow<BF16>(next_b[i]);
  };
  // end region

  // ---- Main loop ----
  for (int stage = 0; stage < NUM_STAGES - 1; stage++)
    if (stage * STEP_K < K) fetch(), store(stage);
  if ((NUM_STAGES - 1) * STEP_K < K) fetch();
  int stage = 0;
  for (int k_tile = 0; k_tile < K; k_tile += STEP_K) {
    __syncthreads();                                          // waits for this tile's stores, the last one's fragments
    // region: prefetch
    if (k_tile + (NUM_STAGES - 1) * STEP_K < K) store(stage == 0 ? NUM_STAGES - 1 : stage - 1);
    if (k_tile + NUM_STAGES * STEP_K < K) fetch();            // in flight during the whole multiplication
    // end region

    // region: multiply
    const element *stage_a = smem_a + stage * STAGE_A, *stage_b = smem_b + stage * STAGE_B;
    #pragma unroll
    for (int k = 0; k < STEP_K; k += MMA_K) {
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++) {           // 16 rows, two chunks of k: the four 8x8 matrices of A
        const int at = at_a(warp_m + mi * MMA_M + lane % 16, k + lane / 16 * 8);
        ldmatrix_x4(frag_a[mi][0], frag_a[mi][1], frag_a[mi][2], frag_a[mi][3], shared_address(&stage_a[at]));
      }
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni += 2) {        // 16 rows of k, two mma tiles side by side
        const int at = at_b(k + lane % 16, warp_n + ni * MMA_N + lane / 16 * 8);
        ldmatrix_x4_trans(frag_b[ni][0], frag_b[ni][1], frag_b[ni + 1][0], frag_b[ni + 1][1],
                          shared_address(&stage_b[at]));
      }
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int step = 0; step < WARP_N / MMA_N; step++) {   // serpentine: odd rows, right to left
          const int ni = SERPENTINE && mi % 2 ? WARP_N / MMA_N - 1 - step : step;
          mma_m16n8k16_bf16(acc[mi][ni], frag_a[mi], frag_b[ni]);
        }
    }
    // end region
    stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
  }

  // ---- Epilogue ----
  // region: epilogue
  const int row_0 = block_m + warp_m + lane / 4, col_0 = block_n + warp_n + lane % 4 * 2;
  #pragma unroll
  for (int mi = 0; mi < WARP_M / MMA_M; mi++)
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA_N; ni++)
      #pragma unroll
      for (int r = 0; r < 2; r++)                             // values 0, 1: row lane/4; values 2, 3: eight rows below
        *reinterpret_cast<float2*>(
            &gmem_d[static_cast<size_t>(row_0 + mi * MMA_M + r * 8) * N + col_0 + ni * MMA_N]) =
            make_float2(acc[mi][ni][r * 2], acc[mi][ni][r * 2 + 1]);
  // end region
}
