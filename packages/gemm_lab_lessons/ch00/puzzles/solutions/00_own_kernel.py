import numpy as np

import gemm_lab as lab

kernel = r"""
extern "C" __global__ void gemm(const float* a, const float* b, float* d, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;      // this thread hangs over the edge
  float acc = 0.0f;
  for (int i = 0; i < k; i++)
    acc += a[row * k + i] * b[i * n + col];
  d[row * n + col] = acc;
}
"""


def on_a_gpu(A, B):
    m, k = A.shape
    n = B.shape[1]
    D = np.zeros((m, n), "float32")
    return lab.simulate(kernel, grid=(-(-n // 16), -(-m // 16)), block=(16, 16), args=[A, B, D, m, n, k])
