import numpy as np

import gemm_lab as lab

kernel = r"""
constexpr int T = 16;                    // a tile has T × T elements, a block T × T threads

extern "C" __global__ void gemm(const float* a, const float* b, float* d, int m, int n, int k) {
  __shared__ float tile_a[T][T], tile_b[T][T];
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float acc = 0.0f;
  for (int k_tile = 0; k_tile < k; k_tile += T) {
    tile_a[y][x] = row < m && k_tile + x < k ? a[row * k + k_tile + x] : 0.0f;
    tile_b[y][x] = k_tile + y < k && col < n ? b[(k_tile + y) * n + col] : 0.0f;
    __syncthreads();                     // both tiles are complete
    for (int i = 0; i < T; i++) acc += tile_a[y][i] * tile_b[i][x];
    __syncthreads();                     // everybody has read them
  }
  if (row < m && col < n) d[row * n + col] = acc;
}
"""


def on_a_gpu(A, B):
    m, k = A.shape
    n = B.shape[1]
    D = np.zeros((m, n), "float32")
    return lab.simulate(kernel, grid=(-(-n // 16), -(-m // 16)), block=(16, 16), args=[A, B, D, m, n, k])
