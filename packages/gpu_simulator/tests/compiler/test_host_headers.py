"""What a .cu file uses of the C and C++ libraries without a host compiler: constants, integer types, std::."""

import numpy as np
import pytest
from compiling import need_compiler

from gpu_simulator import compiler, simulate

need_compiler()


def test_constants_need_no_include():
    values = np.zeros(6, np.float64)
    source = """__global__ void k(double* p, int64_t n, uint8_t m) {
      p[0] = INFINITY; p[1] = M_PI; p[2] = FLT_MAX; p[3] = UINT_MAX; p[4] = n + m; p[5] = NAN;
    }"""
    simulate(source, args=[values, 1 << 40, 7])
    np.testing.assert_array_equal(values[:5], [np.inf, np.pi, np.finfo(np.float32).max, 2**32 - 1, 2**40 + 7])
    assert np.isnan(values[5])


def test_std_is_that_of_libcudacxx():
    values = np.zeros(5, np.float32)
    source = """#include <algorithm>
    #include <type_traits>
    #include <vector>
    template <class T> struct Zero { static constexpr T value = std::is_same_v<T, int> ? 1 : 2; };
    std::vector<int> host;
    __global__ void k(float* p) {
      p[0] = Zero<int>::value; p[1] = Zero<float>::value; p[2] = std::max(3, 2); p[3] = std::sqrt(16.0f);
      p[4] = std::numeric_limits<float>::infinity();
    }"""
    simulate(source, args=[values])
    assert values.tolist() == [1, 2, 3, 4, np.inf]


@pytest.mark.parametrize(
    "header", ["cuda.h", "stdlib.h", "cmath", "cstdint", "math.h", "cuda/std/cstdint", "cuda_bf16.h"]
)
def test_headers_with_headers_of_the_library_compile(header):
    source = f'#include "config.cuh"\n#include <{header}>\n#include <stdio.h>\n__global__ void k() {{}}\n'
    assert compiler.compile(source, arch="sm_90a", entry=None).ptx
    simulate(source)


@pytest.mark.parametrize("header", ["cublas_v2.h", "torch/extension.h"])
def test_headers_that_include_those_of_half_do_so(header):
    values = np.zeros(1, np.float16)
    simulate(f"#include <{header}>\n__global__ void k(half* p) {{ p[0] = __float2half(2.0f); }}", args=[values])
    assert values[0] == 2


def test_headers_of_host_code_in_the_toolkit_are_left_out():
    simulate("#include <thrust/sort.h>\n#include <cuda_gl_interop.h>\n__global__ void k() {}")


def test_cub_has_what_a_kernel_uses():
    values = np.ones(32, np.int32)
    source = """#include <cub/cub.cuh>
    __global__ void k(int* p) {
      using Reduce = cub::WarpReduce<int>;
      __shared__ typename Reduce::TempStorage room;
      int sum = Reduce(room).Sum(p[threadIdx.x]);
      if (threadIdx.x == 0) p[0] = sum;
    }"""
    assert not simulate(source, block=32, args=[values], observers=("hazards",)).hazards
    assert values[0] == 32


def test_a_template_with_defaults_needs_no_arguments():
    values = np.zeros(1, np.float32)
    simulate(
        "template <int N = (1 < 2), class T = float> __global__ void k(T* p) { p[0] = N + 1; }", "k", args=[values]
    )
    assert values[0] == 2
