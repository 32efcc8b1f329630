// 02_ldmatrix.cu: the same fragments, loaded by ldmatrix.
// Extends 01_plain_loads.cu: two instructions in place of eight loads, and no lane needs to know what it will hold.
// D[M,N] = A[M,K] · B[K,N]   both row-major, FP16, FP32 accumulate and out
// T4 and everything after it.   Notebook 03.
#include <cuda_fp16.h>
#include "config.cuh"        // BLOCK_M 16, BLOCK_N 8, BLOCK_K 16

extern "C" __global__ void __launch_bounds__(32)
gemm(const half* gmem_a, const half* gmem_b, float* gmem_d, int M, int N, int K) {
  static_assert(BLOCK_M == 16 && BLOCK_N == 8 && BLOCK_K == 16, "one warp, 16 x 8 of D, two mma of k = 8 a turn");

  // ---- Where this warp works ----
  const int lane = threadIdx.x;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;

  // ---- Shared memory and fragments ----
  __shared__ __align__(16) half smem_a[BLOCK_M][BLOCK_K];     // rows of 32 bytes
  __shared__ __align__(16) half smem_b[BLOCK_K][BLOCK_N];     // rows of 16 bytes
  uint32_t frag_a[4];                                         // two halves in each register
  uint32_t frag_b[2];
  float acc[4] = {};

  // ---- Main loop ----
  #pragma unroll 1                                            // the machine code then shows one turn
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: load
    // A's tile is 32 chunks of 16 bytes, one for each lane; B's is 16, one for each lane of the lower half.
    const int row = lane / 2, col = lane % 2 * 8;
    *reinterpret_cast<uint4*>(&smem_a[row][col]) =
        *reinterpret_cast<const uint4*>(&gmem_a[static_cast<size_t>(block_m + row) * K + k_tile + col]);
    if (lane < BLOCK_K)
      *reinterpret_cast<uint4*>(&smem_b[lane][0]) =
          *reinterpret_cast<const uint4*>(&gmem_b[static_cast<size_t>(k_tile + lane) * N + block_n]);
    // end region
    __syncwarp();                                             // every lane reads what other lanes have stored

    // region: fragments
    // Lanes 0..31 name the 8-half rows of four 8x8 matrices: rows 0..7 and 8..15, then the same rows from k = 8 on.
    const uint32_t from_a = __cvta_generic_to_shared(&smem_a[lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(frag_a[0]), "=r"(frag_a[1]), "=r"(frag_a[2]), "=r"(frag_a[3]) : "r"(from_a) : "memory");
    // Lanes 0..15 name the 16 rows of B. B lies by rows and mma wants columns: .trans.
    const uint32_t from_b = __cvta_generic_to_shared(&smem_b[lane % 16][0]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(frag_b[0]), "=r"(frag_b[1]) : "r"(from_b) : "memory");
    // end region

    // region: multiply
    #pragma unroll
    for (int step = 0; step < 2; step++)                      // k = 0..7, then k = 8..15
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                   "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                   : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
                   : "r"(frag_a[2 * step]), "r"(frag_a[2 * step + 1]), "r"(frag_b[step]));
    // end region
    __syncwarp();                                             // the next stores wait for every lane's loads
  }

  // ---- Epilogue ----
  // region: epilogue
  #pragma unroll
  for (int r = 0; r < 2; r++) {                               // values 0, 1: row lane/4; values 2, 3: eight rows below
    const size_t row = block_m + lane / 4 + r * 8;
    *reinterpret_cast<float2*>(&gmem_d[row * N + block_n + lane % 4 * 2]) = make_float2(acc[2 * r], acc[2 * r + 1]);
  }
  // end region
}
