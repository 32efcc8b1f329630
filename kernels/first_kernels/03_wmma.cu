// 03_wmma.cu: the same product through nvcuda::wmma, whose fragments are opaque.
// Extends 02_ldmatrix.cu: no lane, no register and no PTX in sight; a fragment comes from one address and one stride.
// D[M,N] = A[M,K] · B[K,N]   both row-major, FP16, FP32 accumulate and out
// T4 and everything after it.   Notebook 03.
#include <mma.h>
#include "config.cuh"        // BLOCK_M 16, BLOCK_N 16, BLOCK_K 16

using namespace nvcuda;

extern "C" __global__ void __launch_bounds__(32)
gemm(const half* gmem_a, const half* gmem_b, float* gmem_d, int M, int N, int K) {
  static_assert(BLOCK_M == 16 && BLOCK_N == 16 && BLOCK_K == 16, "wmma has no 16 x 8: its tile here is 16 x 16 x 16");

  // ---- Where this warp works ----
  const int lane = threadIdx.x;
  const int block_m = blockIdx.y * BLOCK_M, block_n = blockIdx.x * BLOCK_N;

  // ---- Shared memory and fragments ----
  __shared__ __align__(32) half smem_a[BLOCK_M][BLOCK_K];     // rows of 32 bytes
  __shared__ __align__(32) half smem_b[BLOCK_K][BLOCK_N];     // rows of 32 bytes
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> frag_a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> frag_b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);

  // ---- Main loop ----
  #pragma unroll 1                                            // the machine code then shows one turn
  for (int k_tile = 0; k_tile < K; k_tile += BLOCK_K) {
    // region: load
    // Both tiles are 32 chunks of 16 bytes, one for each lane.
    const int row = lane / 2, col = lane % 2 * 8;
    *reinterpret_cast<uint4*>(&smem_a[row][col]) =
        *reinterpret_cast<const uint4*>(&gmem_a[static_cast<size_t>(block_m + row) * K + k_tile + col]);
    *reinterpret_cast<uint4*>(&smem_b[row][col]) =
        *reinterpret_cast<const uint4*>(&gmem_b[static_cast<size_t>(k_tile + row) * N + block_n + col]);
    // end region
    __syncwarp();                                             // every lane reads what other lanes have stored

    // region: fragments
    wmma::load_matrix_sync(frag_a, &smem_a[0][0], BLOCK_K);   // one address and one stride
    wmma::load_matrix_sync(frag_b, &smem_b[0][0], BLOCK_N);
    // end region

    // region: multiply
    wmma::mma_sync(acc, frag_a, frag_b, acc);
    // end region
    __syncwarp();                                             // the next stores wait for every lane's loads
  }

  // ---- Epilogue ----
  // region: epilogue
  wmma::store_matrix_sync(&gmem_d[static_cast<size_t>(block_m) * N + block_n], acc, N, wmma::mem_row_major);
  // end region
}
