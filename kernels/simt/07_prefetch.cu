// 07_prefetch.cu: the next tile travels from global memory into registers while this one is multiplied.
// Extends 06_wide_loads.cu: the loads are on their way during the products, so nobody waits for all of their journey.
// D[M,N] = A[M,K] · B[K,N]   all row-major, FP32
// Any GPU; N and K multiples of 4, because a float4 begins at a multiple of 16 bytes.   Notebook 02.
#include "config.cuh"        // BLOCK_M 128, BLOCK_N 128, BLOCK_K 8, WARP_M 64, WARP_N 32, THREAD_M 8, THREAD_N 8

constexpr int WARPS_M = BLOCK_M / WARP_M, WARPS_N = BLOCK_N / WARP_N;
constexpr int LANES_M = WARP_M / THREAD_M, LANES_N = WARP_N / THREAD_N;   // the 32 lanes of a warp: rows and columns
constexpr int NUM_THREADS = WARPS_M * WARPS_N * 32;
constexpr int LOADS_A = BLOCK_M * BLOCK_K / 4 / NUM_THREADS, LOADS_B = BLOCK_K * BLOCK_N / 4 / NUM_THREADS;

extern "C" __global__ void __launch_bounds__(NUM_THREADS)
gemm(const float* gmem_a, const float* gmem_b, float* gmem_d, int M, int N, int K) {
  static_assert(BLOCK_M % WARP_M == 0 && BLOCK_N % WARP_N == 0, "warp tiles must divide the block tile");
  static_assert(THREAD_M % 4 == 0 && THREAD_N % 4 == 0, "a thread reads four words of a tile with one load");
  static_assert(LANES_M * THREAD_M == WARP_M && LANES_N * THREAD_N == WARP_N && LANES_M * LANES_N == 32,
                "the thread tiles of 32 lanes must fill the warp tile");
  static_assert(BLOCK_K % 4 == 0, "a thread loads four neighbouring elements of a row of A");
  static_assert(LOADS_A * NUM_THREADS * 4 == BLOCK_M * BLOCK_K && LOADS_B * NUM_THREADS * 4 == BLOCK_K * BLOCK_N,
                "every thread must load the same number of elements: make BLOCK_K larger");

  // ---- Where this thread works ----
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  // Lanes lie row by row. Another order would need 8 wavefronts for one k where this one needs 12, but no less time:
  // the products of a warp for one k keep the four schedulers busy for 16 cycles or more.
  const int thread_m = warp / WARPS_N * WARP_M + lane / LANES_N * 4;   // the first of the thread's rows and columns
  const int thread_n = warp % WARPS_N * WARP_N + lane % LANES_N * 4;

  // ---- Shared memory and registers ----
  // + 4 spreads the stores of A's tile, as + 1 did, and keeps each row at a multiple of 16 bytes, as a float4 needs it.
  __shared__ __align__(16) float smem_a[BLOCK_K][BLOCK_M + 4];         // transposed: a column of A is a row here
  __shared__ __align__(16) float smem_b[BLOCK_K][BLOCK_N];
  float acc[THREAD_M][THREAD_N] = {};
  float frag_a[THREAD_M], frag_b[THREAD_N];
  float4 next_a[LOADS_A], next_b[LOADS_B];   // this thread's share of the next tile

  // region: fetch
  const auto fetch = [&](int k_tile) {       // global memory to registers, no wait
    const float4 zeros = {};                 // for elements beyond the edge: all four of a float4 lie there, or none
    #pragma unroll
    for (int turn = 0; turn < LOADS_A; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x, m = i / (BLOCK_K / 4), k = i % (BLOCK_K / 4) * 4;
      const float* from = gmem_a + static_cast<size_t>(block_m + m) * K + k_tile + k;
      next_a[turn] = block_m + m < M && k_tile + k < K ? *reinterpret_cast<const float4*>(from) : zeros;
    }
    #pragma unroll
    for (int turn = 0; turn < LOADS_B; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x, k = i / (BLOCK_N / 4), n = i % (BLOCK_N / 4) * 4;
      const float* from = gmem_b + static_cast<size_t>(k_tile + k) * N + block_n + n;
      next_b[turn] = k_tile + k < K && block_n + n < N ? *reinterpret_cast<const float4*>(from) : zeros;
    }
  };
  // end region

  // ---- Main loop ----
  fetch(0);
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: store
    #pragma unroll
    for (int turn = 0; turn < LOADS_A; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x, m = i / (BLOCK_K / 4), k = i % (BLOCK_K / 4) * 4;
      smem_a[k][m] = next_a[turn].x; smem_a[k + 1][m] = next_a[turn].y;   // transposed: one float4 goes to four rows
      smem_a[k + 2][m] = next_a[turn].z; smem_a[k + 3][m] = next_a[turn].w;
    }
    #pragma unroll
    for (int turn = 0; turn < LOADS_B; turn++) {
      const int i = turn * NUM_THREADS + threadIdx.x;
      *reinterpret_cast<float4*>(&smem_b[i / (BLOCK_N / 4)][i % (BLOCK_N / 4) * 4]) = next_b[turn];
    }
    __syncthreads();         // every thread waits until the whole tile is there
    // end region
    if (k_tile + BLOCK_K < K) fetch(k_tile + BLOCK_K);   // on its way during the whole multiplication

    // region: multiply
    #pragma unroll
    for (int k = 0; k < BLOCK_K; k++) {
      // Four rows of a thread are neighbours; the next four begin 4 * LANES_M further, behind those of the other lanes.
      #pragma unroll
      for (int i = 0; i < THREAD_M; i += 4)
        *reinterpret_cast<float4*>(&frag_a[i]) = *reinterpret_cast<float4*>(&smem_a[k][thread_m + i * LANES_M]);
      #pragma unroll
      for (int j = 0; j < THREAD_N; j += 4)
        *reinterpret_cast<float4*>(&frag_b[j]) = *reinterpret_cast<float4*>(&smem_b[k][thread_n + j * LANES_N]);
      #pragma unroll
      for (int i = 0; i < THREAD_M; i++)
        #pragma unroll
        for (int j = 0; j < THREAD_N; j++) acc[i][j] += frag_a[i] * frag_b[j];
    }
    __syncthreads();         // nobody overwrites the tile while somebody still reads it
    // end region
  }

  // ---- Epilogue ----
  #pragma unroll
  for (int i = 0; i < THREAD_M; i++)
    #pragma unroll
    for (int j = 0; j < THREAD_N; j++) {
      const int row = block_m + thread_m + i / 4 * 4 * LANES_M + i % 4;
      const int col = block_n + thread_n + j / 4 * 4 * LANES_N + j % 4;
      if (row < M && col < N) gmem_d[static_cast<size_t>(row) * N + col] = acc[i][j];
    }
}
