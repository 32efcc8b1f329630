// 02_split_k.cu: several blocks share a tile of D, each with a part of K; the last to finish adds their sums.
// Extends 01_one_tile.cu: with few tiles, more multiprocessors read B at once.
// D[M,N] = A[M,K] · B[K,N]   A row-major, B column-major, BF16 in and out, FP32 accumulate
// A100, RTX 5090, H100.   Notebook 10.
#include <cuda_bf16.h>
#include "config.cuh"  // BLOCK_M 64, BLOCK_N 64, BLOCK_K 128, NUM_WARPS 4, NUM_STAGES 3, SPLIT 4, SLOTS 1024
#include "ptx/cp_async.cuh"
#include "ptx/ldmatrix.cuh"
#include "ptx/mma_sync.cuh"
#include "tile/block_order.cuh"

constexpr int NUM_THREADS = NUM_WARPS * 32, WARP_N = BLOCK_N / NUM_WARPS;   // a warp has all rows of its columns
constexpr int MMA_M = 16, MMA_N = 8, MMA_K = 16;
constexpr int STAGE_A = BLOCK_M * BLOCK_K * 2, STAGE_B = BLOCK_N * BLOCK_K * 2;   // bytes of a tile
constexpr int STAGE_BYTES = STAGE_A + STAGE_B;
constexpr int SMEM_BYTES = NUM_STAGES * STAGE_BYTES;
constexpr int CHUNKS = BLOCK_K / 8;                           // of 16 bytes, in a row of either tile
constexpr int ROWS = NUM_THREADS / CHUNKS;                    // rows of a tile that one pass of all threads copies

// A slot holds the sums of one block, in the order of its threads: neighbours write neighbouring 16 bytes.
constexpr int FRAGMENTS = BLOCK_M / MMA_M * WARP_N / MMA_N;
__device__ __align__(128) float4 workspace[SLOTS][FRAGMENTS][NUM_THREADS];
__device__ unsigned arrived[SLOTS];                           // blocks of a tile whose sums are in the workspace

// Where 16-byte chunk (row, chunk) of a tile lies in shared memory, counted in chunks: the XOR of notebook 05.
__device__ __forceinline__ int chunk_at(int row, int chunk) { return row * CHUNKS + (chunk ^ row % 8); }

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const __nv_bfloat16* gmem_a, const __nv_bfloat16* gmem_b, __nv_bfloat16* gmem_d, int M, int N, int K) {
  static_assert(BLOCK_M % MMA_M == 0 && WARP_N % (2 * MMA_N) == 0, "a warp tile is made of 16 x 16, two mma tiles");
  static_assert(BLOCK_K == 64 || BLOCK_K == 128, "rows of 128 bytes, or twice as long");
  static_assert(BLOCK_M % ROWS == 0 && BLOCK_N % ROWS == 0, "one pass of all threads copies whole rows");

  // ---- Where this warp works ----
  const int lane = threadIdx.x % 32, warp_n = threadIdx.x / 32 * WARP_N;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  // region: range
  const int k_tiles = cdiv(K, BLOCK_K), splits = gridDim.z, split = blockIdx.z;
  const int first = k_tiles * split / splits, last = k_tiles * (split + 1) / splits;   // they differ by at most one
  // end region

  // ---- Shared memory and fragments ----
  extern __shared__ __align__(256) uint4 smem[];              // [NUM_STAGES]: (BLOCK_M, BLOCK_K), (BLOCK_N, BLOCK_K)
  const uint32_t smem_a = shared_address(smem), smem_b = smem_a + STAGE_A;
  float acc[BLOCK_M / MMA_M][WARP_N / MMA_N][4] = {};
  uint32_t frag_a[2][BLOCK_M / MMA_M][4], frag_b[2][WARP_N / MMA_N][2];   // one set is loaded, one multiplied
  const uint32_t lane_a = smem_a + 16 * chunk_at(lane % 16, lane / 16);
  const uint32_t lane_b = smem_b + 16 * chunk_at(warp_n + lane / 16 * 8 + lane % 8, lane / 8 % 2);

  // region: copy
  const int row = threadIdx.x / CHUNKS, chunk = threadIdx.x % CHUNKS;
  const auto copy_rows = [&](uint32_t to, const __nv_bfloat16* from, int rows, int left, int k) {
    #pragma unroll
    for (int i = 0; i < rows; i += ROWS) {
      const bool inside = row + i < left && k < K;            // outside nothing is read, and the chunk becomes zeros
      cp_async_16b_zfill(to + 16 * chunk_at(row + i, chunk), inside ? from + size_t(row + i) * K + k : from,
                         inside ? 16 : 0);
    }
  };
  const auto copy = [&](int stage, int k_tile) {              // nobody waits here
    const int k = k_tile * BLOCK_K + chunk * 8;
    if (k_tile < last) {
      copy_rows(smem_a + stage * STAGE_BYTES, gmem_a + size_t(block_m) * K, BLOCK_M, M - block_m, k);
      copy_rows(smem_b + stage * STAGE_BYTES, gmem_b + size_t(block_n) * K, BLOCK_N, N - block_n, k);
    }
    cp_async_commit();                                        // a group may be empty
  };
  // end region

  const auto load = [&](int set, int stage, int k) {          // shared memory to fragments
    #pragma unroll
    for (int mi = 0; mi < BLOCK_M / MMA_M; mi++)
      ldmatrix_x4(frag_a[set][mi][0], frag_a[set][mi][1], frag_a[set][mi][2], frag_a[set][mi][3],
                  ((lane_a + stage * STAGE_BYTES) ^ k * 2) + mi * MMA_M * BLOCK_K * 2);
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA_N; ni += 2)
      ldmatrix_x4(frag_b[set][ni][0], frag_b[set][ni][1], frag_b[set][ni + 1][0], frag_b[set][ni + 1][1],
                  ((lane_b + stage * STAGE_BYTES) ^ k * 2) + ni * MMA_N * BLOCK_K * 2);
  };

  // ---- Main loop ----
  #pragma unroll
  for (int i = 0; i < NUM_STAGES - 1; i++) copy(i, first + i);
  for (int k_tile = first, stage = 0, next = NUM_STAGES - 1; k_tile < last; k_tile++) {
    cp_async_wait<NUM_STAGES - 2>();                          // this thread's copies of this tile,
    __syncthreads();                                          // every thread's, and everyone is done with the last
    copy(next, k_tile + NUM_STAGES - 1);
    load(0, stage, 0);
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k += MMA_K) {
      const int set = k / MMA_K % 2;
      if (k + MMA_K < BLOCK_K) load(set ^ 1, stage, k + MMA_K);
      #pragma unroll
      for (int mi = 0; mi < BLOCK_M / MMA_M; mi++)
        #pragma unroll
        for (int ni = 0; ni < WARP_N / MMA_N; ni++) mma_m16n8k16_bf16(acc[mi][ni], frag_a[set][mi], frag_b[set][ni]);
    }
    next = stage;
    stage = stage == NUM_STAGES - 1 ? 0 : stage + 1;
  }

  // ---- Reduction ----
  // region: reduce
  if (splits > 1) {
    float4 (&sums)[FRAGMENTS] = reinterpret_cast<float4 (&)[FRAGMENTS]>(acc);
    const int tile = blockIdx.y * gridDim.x + blockIdx.x;
    float4 (*const slot)[FRAGMENTS][NUM_THREADS] = &workspace[tile * splits];   // this tile's first
    #pragma unroll
    for (int i = 0; i < FRAGMENTS; i++) slot[split][i][threadIdx.x] = sums[i];
    __threadfence();                                          // whoever sees the count also sees this thread's sums,
    __syncthreads();                                          // and only when all threads have written does one count
    __shared__ bool is_last;
    if (threadIdx.x == 0) is_last = atomicInc(&arrived[tile], splits - 1) == splits - 1;   // back to 0 after the last
    __syncthreads();                                          // everyone waits for the answer
    if (!is_last) return;
    __threadfence();                                          // the reads below come after the count
    #pragma unroll
    for (int i = 0; i < FRAGMENTS; i++) sums[i] = __ldcg(&slot[0][i][threadIdx.x]);
    for (int s = 1; s < splits; s++)                          // always in this order: D is the same
      #pragma unroll
      for (int i = 0; i < FRAGMENTS; i++) {
        const float4 part = __ldcg(&slot[s][i][threadIdx.x]);
        sums[i].x += part.x, sums[i].y += part.y, sums[i].z += part.z, sums[i].w += part.w;
      }
  }
  // end region

  // ---- Epilogue ----
  // region: epilogue
  #pragma unroll
  for (int mi = 0; mi < BLOCK_M / MMA_M; mi++)
    #pragma unroll
    for (int ni = 0; ni < WARP_N / MMA_N; ni++)
      #pragma unroll
      for (int r = 0; r < 2; r++) {                           // values 0, 1: row lane/4; values 2, 3: eight rows below
        const int m = block_m + mi * MMA_M + r * 8 + lane / 4, n = block_n + warp_n + ni * MMA_N + lane % 4 * 2;
        if (m < M && n < N)
          *reinterpret_cast<__nv_bfloat162*>(&gmem_d[size_t(m) * N + n]) =
              __floats2bfloat162_rn(acc[mi][ni][r * 2], acc[mi][ni][r * 2 + 1]);
      }
  // end region
}
