// 08_pipelined_fragments.cu: ldmatrix runs one step ahead of the mma that needs it, across the barrier as well.
// Extends 07_staged_epilogue.cu: two sets of fragments; loads, stores and barrier all stand between independent mma.
// D[M,N] = alpha · A[M,K] · B[K,N] + beta · C[M,N]   all row-major, FP16, FP16 accumulate
// T4 and everything after it.   Notebook 06.
#include <cuda_fp16.h>
#include "config.cuh"        // BLOCK_M 256, BLOCK_N 256, BLOCK_K 32, NUM_WARPS_M 4, NUM_WARPS_N 2
#include "ptx/ldmatrix.cuh"
#include "ptx/mma_sync.cuh"
#include "tile/staged_epilogue.cuh"

constexpr int NUM_THREADS = NUM_WARPS_M * NUM_WARPS_N * 32;
constexpr int WARP_M = BLOCK_M / NUM_WARPS_M, WARP_N = BLOCK_N / NUM_WARPS_N;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 8;
constexpr int STAGE_A = BLOCK_M * BLOCK_K / 8, STAGE_B = BLOCK_K * BLOCK_N / 8;   // 16-byte chunks in one buffer
constexpr int SMEM_BYTES = 2 * (STAGE_A + STAGE_B) * 16;
constexpr int CHUNKS_A = STAGE_A / NUM_THREADS, CHUNKS_B = STAGE_B / NUM_THREADS;   // chunks that one thread copies
constexpr int ROWS_A = NUM_THREADS * 8 / BLOCK_K, ROWS_B = NUM_THREADS * 8 / BLOCK_N;   // rows that one pass copies

// region: layout
// Where 16-byte chunk (row, chunk) of a tile lies in shared memory, counted in chunks. Two rows of A, 64 bytes each,
// share the 128 bytes of the 32 banks: a chunk has four places, and the number of the row pair chooses among them.
__device__ __forceinline__ int chunk_a(int row, int chunk) { return row * (BLOCK_K / 8) + (chunk ^ row / 2 % 4); }
__device__ __forceinline__ int chunk_b(int row, int chunk) { return row * (BLOCK_N / 8) + (chunk ^ row % 8); }
// end region

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const half* gmem_a, const half* gmem_b, const half* gmem_c, half* gmem_d,
     int M, int N, int K, float alpha, float beta) {
  static_assert(WARP_M % (2 * MMA_M) == 0, "WARP_M must be a multiple of 32: ldmatrix.x4 fills two mma tiles of A");
  static_assert(WARP_N % (8 * MMA_N) == 0, "WARP_N must be a multiple of 64: the XOR steps through 8 chunks of B");
  static_assert(BLOCK_K == 32, "rows of A are 64 bytes: chunk_a's XOR moves a chunk among 4 places");
  static_assert(ROWS_B > 0 && ROWS_A % 8 == 0 && ROWS_B % 8 == 0 && BLOCK_M % ROWS_A == 0 && BLOCK_K % ROWS_B == 0,
                "one pass of all threads must copy 8, 16 or 32 whole rows of B: change BLOCK_N or the number of warps");

  // ---- Where this warp works ----
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  const int warp_m = warp / NUM_WARPS_N * WARP_M, warp_n = warp % NUM_WARPS_N * WARP_N;
  gmem_a += static_cast<size_t>(block_m) * K;                 // the k tile's corner in A: rows of the block
  gmem_b += block_n;                                          // the k tile's corner in B: columns of the block

  // ---- Shared memory and fragments ----
  extern __shared__ __align__(128) uint4 smem_a[];            // [2] (BLOCK_M, BLOCK_K) in chunks of 8 halves
  uint4* const smem_b = smem_a + 2 * STAGE_A;                 // [2] (BLOCK_K, BLOCK_N)
  uint4 next_a[CHUNKS_A], next_b[CHUNKS_B];                   // this thread's share of the next tile
  uint32_t acc[WARP_M / MMA_M][WARP_N / MMA_N][2] = {};       // two halves in each register
  uint32_t frag_a[2][WARP_M / MMA_M][2];                      // one set is multiplied while the other is loaded
  uint32_t frag_b[2][WARP_N / MMA_N];

  // region: addresses
  // The swizzle touches only the bits of an address that choose the chunk. Whole groups of 8 rows leave them alone and
  // are a constant further on; a step of c chunks along the row is an XOR with 16 c bytes.
  const uint32_t lane_a = shared_address(&smem_a[chunk_a(warp_m + lane, 0)]);
  const uint32_t lane_b = shared_address(&smem_b[chunk_b(lane % 8, warp_n / 8 + lane / 8)]);
  // This thread's first chunk of a tile: its row and column, its place in shared memory, its address in global memory.
  const int row_a = threadIdx.x / (BLOCK_K / 8), col_a = threadIdx.x % (BLOCK_K / 8);
  const int row_b = threadIdx.x / (BLOCK_N / 8), col_b = threadIdx.x % (BLOCK_N / 8);
  const int to_a = chunk_a(row_a, col_a), to_b = chunk_b(row_b, col_b);
  gmem_a += static_cast<size_t>(row_a) * K + col_a * 8;
  gmem_b += static_cast<size_t>(row_b) * N + col_b * 8;
  uint32_t pass_a[CHUNKS_A], pass_b[CHUNKS_B];                // how many elements further the other chunks lie
  #pragma unroll
  for (int i = 0; i < CHUNKS_A; i++) pass_a[i] = i * ROWS_A * K;
  #pragma unroll
  for (int i = 0; i < CHUNKS_B; i++) pass_b[i] = i * ROWS_B * N;
  // end region

  // region: fetch
  const auto fetch = [&] {                                    // global memory to registers, no wait
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) next_a[i] = *reinterpret_cast<const uint4*>(gmem_a + pass_a[i]);
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) next_b[i] = *reinterpret_cast<const uint4*>(gmem_b + pass_b[i]);
    gmem_a += BLOCK_K;
    gmem_b += static_cast<size_t>(BLOCK_K) * N;
  };
  // end region

  // region: store
  const auto store_a = [&](int stage) {                       // registers to shared memory
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) smem_a[stage * STAGE_A + to_a + i * NUM_THREADS] = next_a[i];
  };
  const auto store_b = [&](int stage) {
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) smem_b[stage * STAGE_B + to_b + i * NUM_THREADS] = next_b[i];
  };
  // end region

  // region: load
  const auto load = [&](int set, int stage, int k) {          // shared memory to fragments
    const uint32_t stage_a = lane_a + stage * STAGE_A * 16, stage_b = lane_b + stage * STAGE_B * 16;
    #pragma unroll
    for (int mi = 0; mi < WARP_M / MMA_M; mi += 2) {          // 32 lanes: the rows of two mma tiles
      const uint32_t address = (stage_a ^ k / 8 * 16) + mi * MMA_M * BLOCK_K * 2;
      ldmatrix_x4(frag_a[set][mi][0], frag_a[set][mi][1], frag_a[set][mi + 1][0], frag_a[set][mi + 1][1], address);
    }
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA_N; ni += 4) {          // 8 rows of k, four mma tiles wide
      const uint32_t address = (stage_b ^ ni % 8 * 16) + (k * BLOCK_N * 2 + ni / 8 * 128);
      ldmatrix_x4_trans(frag_b[set][ni], frag_b[set][ni + 1], frag_b[set][ni + 2], frag_b[set][ni + 3], address);
    }
  };
  // end region

  // ---- Main loop ----
  fetch();
  store_a(0), store_b(0);
  __syncthreads();                                            // the first tile is complete
  load(0, 0, 0);
  int stage = 0;
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: multiply
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      const int set = k / MMA_K % 2;
      if (k == BLOCK_K - MMA_K) {
        __syncthreads();                                      // waits for the next tile's stores, this one's ldmatrix
        stage ^= 1;
      }
      load(set ^ 1, stage, (k + MMA_K) % BLOCK_K);            // the fragments of the next step
      if (k == 0 && k_tile + BLOCK_K < K) fetch();            // as soon as the other buffer is free
      if (k == MMA_K) store_a(stage ^ 1);                     // in two steps: stores delay ldmatrix
      if (k == 2 * MMA_K) store_b(stage ^ 1);                 // (also after the last tile, unread)
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++)
          mma_m16n8k8_f16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
    }
    // end region
  }

  // ---- Epilogue ----
  // region: epilogue
  __syncthreads();                                            // all warps are done: reuse the tiles
  const size_t warp_at = static_cast<size_t>(block_m + warp_m) * N + block_n + warp_n;
  uint4* const staged = smem_a + warp * (MMA_M * WARP_N / 8); // this warp's own (16, WARP_N)
  store_through_shared<WARP_N>(acc, staged, gmem_c + warp_at, gmem_d + warp_at, N, alpha, beta);
  // end region
}
