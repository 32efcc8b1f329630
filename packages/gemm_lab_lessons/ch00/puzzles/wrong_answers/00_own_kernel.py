"""Wrong answers to 00_own_kernel. The docstring of each holds words of its refusal."""

import numpy as np

import gemm_lab as lab

KERNEL = """
extern "C" __global__ void gemm(const float* a, const float* b, float* d, int m, int n, int k) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float acc = 0.0f;
  for (int i = 0; i < k; i++) acc += a[row * k + i] * b[i * n + col];
  d[row * n + col] = acc;
}
"""


def _started(A, B, text=KERNEL, grid=None, block=(16, 16)):
    (m, k), n = A.shape, B.shape[1]
    D = np.zeros((m, n), "float32")
    return lab.simulate(text, grid=grid or (-(-n // 16), -(-m // 16)), block=block, args=[A, B, D, m, n, k])


def the_product_of_numpy(A, B):
    """Return what lab.simulate(…) returns, and not D"""
    return A @ B


def a_product_that_was_there_before(A, B):
    """your kernel did not write it"""
    (m, k), n = A.shape, B.shape[1]
    nothing = 'extern "C" __global__ void gemm(const float* a, const float* b, float* d, int m, int n, int k) {}'
    return lab.simulate(nothing, grid=1, block=32, args=[A, B, A @ B, m, n, k])


def blocks_rounded_down(A, B):
    """For A of 20 × 9 and B of 9 × 28: D[0, 16] is 0"""
    return _started(A, B, grid=(max(1, B.shape[1] // 16), max(1, A.shape[0] // 16)))


def rows_and_columns_of_the_grid_exchanged(A, B):
    """elements are wrong"""
    return _started(A, B, grid=(-(-A.shape[0] // 16), -(-B.shape[1] // 16)))


def no_thread_stops_at_the_edge(A, B):
    """For A of 20 × 9 and B of 9 × 28:"""
    return _started(A, B, KERNEL.replace("if (row >= m || col >= n) return;", ""))


def a_block_that_no_gpu_starts(A, B):
    """2,048 threads is more than the 1,024"""
    return _started(A, B, block=(64, 32))


def a_missing_semicolon(A, B):
    """expected a ";\""""
    return _started(A, B, KERNEL.replace("acc = 0.0f;", "acc = 0.0f"))


def d_in_front_of_a(A, B):
    """args has to hold three arrays of float32 in this order"""
    (m, k), n = A.shape, B.shape[1]
    text = KERNEL.replace("const float* a, const float* b, float* d,", "float* d, const float* a, const float* b,")
    return lab.simulate(text, grid=(9, 9), block=(16, 16), args=[np.zeros((m, n), "float32"), A, B, m, n, k])


def writes_into_a(A, B):
    """your kernel changed A or B"""
    return _started(
        A, B, KERNEL.replace("const float* a", "float* a").replace("= acc;\n}", "= acc;\n  a[0] = 9.0f;\n}")
    )


def every_thread_of_a_block_adds_to_the_same_element(A, B):
    """elements are wrong"""
    return _started(A, B, KERNEL.replace("threadIdx.x;", "0;"))


def one_thread_too_many_for_each_column(A, B):
    """need not be the next time"""
    text = KERNEL.replace("blockIdx.x * blockDim.x + threadIdx.x", "blockIdx.x * 8 + threadIdx.x")
    return _started(A, B, text, grid=(-(-B.shape[1] // 8), -(-A.shape[0] // 16)))
