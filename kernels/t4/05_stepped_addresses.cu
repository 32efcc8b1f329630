// 05_stepped_addresses.cu: every address is computed once; from there on, each step is an XOR or a constant.
// Extends 04_register_prefetch.cu: half the instructions around the mma, and tiles of 256 × 256 × 32 for more reuse.
// D[M,N] = alpha · A[M,K] · B[K,N] + beta · C[M,N]   all row-major, FP16, FP16 accumulate
// T4 and everything after it.   Notebook 06.
#include <cuda_fp16.h>
#include "config.cuh"        // BLOCK_M 256, BLOCK_N 256, BLOCK_K 32, NUM_WARPS_M 4, NUM_WARPS_N 2
#include "ptx/ldmatrix.cuh"
#include "ptx/mma_sync.cuh"

constexpr int NUM_THREADS = NUM_WARPS_M * NUM_WARPS_N * 32;
constexpr int WARP_M = BLOCK_M / NUM_WARPS_M, WARP_N = BLOCK_N / NUM_WARPS_N;
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 8;
constexpr int CHUNKS_A = BLOCK_M * BLOCK_K / 8 / NUM_THREADS, CHUNKS_B = BLOCK_K * BLOCK_N / 8 / NUM_THREADS;
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
  __shared__ __align__(128) uint4 smem_a[BLOCK_M * BLOCK_K / 8];   // (BLOCK_M, BLOCK_K) in chunks of 8 halves
  __shared__ __align__(128) uint4 smem_b[BLOCK_K * BLOCK_N / 8];   // (BLOCK_K, BLOCK_N)
  uint4 next_a[CHUNKS_A], next_b[CHUNKS_B];                   // this thread's share of the next tile
  uint32_t acc[WARP_M / MMA_M][WARP_N / MMA_N][2] = {};       // two halves in each register
  uint32_t frag_a[WARP_M / MMA_M][2];
  uint32_t frag_b[WARP_N / MMA_N];

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

  // ---- Main loop ----
  fetch();
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: store
    #pragma unroll
    for (int i = 0; i < CHUNKS_A; i++) smem_a[to_a + i * NUM_THREADS] = next_a[i];
    #pragma unroll
    for (int i = 0; i < CHUNKS_B; i++) smem_b[to_b + i * NUM_THREADS] = next_b[i];
    // end region
    __syncthreads();                                          // the warps' ldmatrix waits for every thread's store
    if (k_tile + BLOCK_K < K) fetch();                        // in flight during the whole multiplication

    // region: multiply
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi += 2) {        // 32 lanes: the rows of two mma tiles
        const uint32_t address = (lane_a ^ k / 8 * 16) + mi * MMA_M * BLOCK_K * 2;
        ldmatrix_x4(frag_a[mi][0], frag_a[mi][1], frag_a[mi + 1][0], frag_a[mi + 1][1], address);
      }
      #pragma unroll
      for (int ni = 0; ni < WARP_N / MMA_N; ni += 4) {        // 8 rows of k, four mma tiles wide
        const uint32_t address = (lane_b ^ ni % 8 * 16) + (k * BLOCK_N * 2 + ni / 8 * 128);
        ldmatrix_x4_trans(frag_b[ni], frag_b[ni + 1], frag_b[ni + 2], frag_b[ni + 3], address);
      }
      #pragma unroll
      for (int mi = 0; mi < WARP_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++)
          mma_m16n8k8_f16(acc[mi][ni], frag_a[mi], frag_b[ni]);
    }
    // end region
    __syncthreads();                                          // the next tile's stores wait for every warp's ldmatrix
  }

  // ---- Epilogue ----
  // region: epilogue
  const int row_0 = block_m + warp_m + lane / 4, col_0 = block_n + warp_n + lane % 4 * 2;
  #pragma unroll
  for (int mi = 0; mi < WARP_M / MMA_M; mi++)
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA_N; ni++)
      #pragma unroll
      for (int r = 0; r < 2; r++) {                           // row lane/4, then eight rows below
        const size_t at = static_cast<size_t>(row_0 + mi * MMA_M + r * 8) * N + col_0 + ni * MMA_N;
        const float2 sum = __half22float2(*reinterpret_cast<half2*>(&acc[mi][ni][r]));
        const float2 old = __half22float2(*reinterpret_cast<const half2*>(&gmem_c[at]));
        *reinterpret_cast<half2*>(&gmem_d[at]) =
            __floats2half2_rn(alpha * sum.x + beta * old.x, alpha * sum.y + beta * old.y);
      }
  // end region
}
