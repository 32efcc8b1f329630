"""Wrong answers to 02_own_kernel. The docstring of each holds words of its refusal."""

import numpy as np

import gemm_lab as lab

KERNEL = """
constexpr int T = 16;
extern "C" __global__ void gemm(const float* a, const float* b, float* d, int m, int n, int k) {
  __shared__ float tile_a[T][T], tile_b[T][T];
  const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
  float acc = 0.0f;
  for (int k_tile = 0; k_tile < k; k_tile += T) {
    tile_a[y][x] = row < m && k_tile + x < k ? a[row * k + k_tile + x] : 0.0f;
    tile_b[y][x] = k_tile + y < k && col < n ? b[(k_tile + y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < T; i++) acc += tile_a[y][i] * tile_b[i][x];
    __syncthreads();  // again
  }
  if (row < m && col < n) d[row * n + col] = acc;
}
"""


def _started(A, B, *changes):
    (m, k), n, text = A.shape, B.shape[1], KERNEL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    D = np.zeros((m, n), "float32")
    return lab.simulate(text, grid=(-(-n // 16), -(-m // 16)), block=(16, 16), args=[A, B, D, m, n, k])


def the_kernel_of_notebook_00(A, B):
    """33,280 sectors; tiles of 16 × 16 need 4,608"""
    start, end = KERNEL.index("    tile_a[y][x] ="), KERNEL.index("  }\n  if (row")
    plain = """    for (int i = k_tile; row < m && col < n && i < k && i < k_tile + T; i++)
      acc += a[row * k + i] * b[i * n + col];
"""
    return _started(A, B, (KERNEL[start:end], plain))


def one_barrier_only(A, B):
    """need not be the next time."""
    return _started(A, B, ("    __syncthreads();  // again\n", ""))


def threads_at_the_edge_leave_before_the_barrier(A, B):
    """For A of 20 × 9 and B of 9 × 28:"""
    return _started(A, B, ("  float acc", "  if (row >= m || col >= n) return;\n  float acc"))


def no_zero_beyond_the_end_of_k(A, B):
    """elements are wrong"""
    a = ("row < m && k_tile + x < k ?", "row * k + k_tile + x < m * k ?")
    return _started(
        A, B, a, ("k_tile + y < k && col < n ? b[(k_tile + y) * n", "col < n ? b[min(k_tile + y, k - 1) * n")
    )


def neighbouring_threads_fetch_neighbouring_rows(A, B):
    """neighbouring threads have to fetch neighbouring elements"""
    old = "tile_a[y][x] = row < m && k_tile + x < k ? a[row * k + k_tile + x]"
    new = "tile_a[x][y] = blockIdx.y * T + x < m && k_tile + y < k ? a[(blockIdx.y * T + x) * k + k_tile + y]"
    return _started(A, B, (old, new))
