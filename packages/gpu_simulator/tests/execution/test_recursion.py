"""Device functions that call themselves, with a depth of its own for each lane."""

import math

import numpy as np
import pytest

import gpu_simulator
from gpu_simulator.machine import call_stack as frames

HEAD = 'extern "C" __global__ void kernel'


def test_two_calls_in_one_activation(cuda):
    source = (
        "__device__ __noinline__ int f(int n) {\n  return n < 2 ? n : f(n - 1) + f(n - 2);\n}\n"
        + HEAD
        + "(int* o) { o[threadIdx.x] = f(threadIdx.x % 13); }"
    )
    out = np.zeros(64, np.int32)
    cuda(source, out, block=64)
    fibonacci = [0, 1]
    while len(fibonacci) < 13:
        fibonacci.append(sum(fibonacci[-2:]))
    assert np.array_equal(out, np.array(fibonacci)[np.arange(64) % 13])


def test_what_is_live_across_the_call_comes_back(cuda):
    source = (
        """__device__ __noinline__ double weigh(int n, double x, const int* w) {
      if (n == 0) return x;
      double before = w[n] * x;            // live across both calls
      double deep = weigh(n - 1, x + n, w);
      return n % 3 == 0 ? before - deep + weigh(n / 3, deep, w) : before + deep;
    }
    """
        + HEAD
        + """(const int* w, double* o) {
      int kept = threadIdx.x * 7;           // of the kernel, live across
      double first = weigh(threadIdx.x % 9, 1.5, w), second = weigh(3, threadIdx.x, w);
      o[threadIdx.x] = first * 2 + second + kept;
    }"""
    )

    def weigh(n, x, w):
        if n == 0:
            return x
        before, deep = w[n] * x, weigh(n - 1, x + n, w)
        return before - deep + weigh(n // 3, deep, w) if n % 3 == 0 else before + deep

    w, out = np.random.default_rng(1).integers(-9, 9, 16).astype(np.int32), np.zeros(96)
    cuda(source, w, out, grid=1, block=96)
    assert out.tolist() == [weigh(t % 9, 1.5, w) * 2 + weigh(3, float(t), w) + 7 * t for t in range(96)]


def test_functions_that_call_each_other(cuda):
    source = (
        """struct Pair { int a, b; };
    __device__ __noinline__ Pair odd(int n, int s);
    __device__ __noinline__ Pair even(int n, int s) { if (n == 0) return {1, s}; Pair p = odd(n - 1, s + n); p.b += n; return p; }
    __device__ __noinline__ Pair odd(int n, int s) {
      if (n == 0) return {0, s};
      Pair p = even(n - 1, 2 * s);
      if (n > 9) { Pair q = odd(n / 3, n); p.b ^= q.b; }
      return p;
    }
    """
        + HEAD
        + "(int2* o) { Pair p = even(threadIdx.x, 1), q = odd(threadIdx.x / 2, 5); o[threadIdx.x] = make_int2(p.a + 2 * q.a, p.b - q.b); }"
    )

    def even(n, s):
        if n == 0:
            return 1, s
        a, b = odd(n - 1, s + n)
        return a, b + n

    def odd(n, s):
        if n == 0:
            return 0, s
        a, b = even(n - 1, 2 * s)
        return a, b ^ odd(n // 3, n)[1] if n > 9 else b

    out = np.zeros((20, 2), np.int32)
    cuda(source, out, block=20)
    expected = [(even(t, 1), odd(t // 2, 5)) for t in range(20)]
    assert out.tolist() == [[p[0] + 2 * q[0], p[1] - q[1]] for p, q in expected]


def test_quicksort_of_every_thread(cuda, rng):
    source = (
        """__device__ __noinline__ void sort(int* a, int low, int high) {
      if (low >= high) return;
      int pivot = a[(low + high) / 2], i = low, j = high;
      while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) { int v = a[i]; a[i++] = a[j]; a[j--] = v; }
      }
      sort(a, low, j);
      sort(a, i, high);
    }
    """
        + HEAD
        + "(int* p) { int mine[24]; for (int i = 0; i < 24; i++) mine[i] = p[threadIdx.x * 24 + i];"
        " sort(mine, 0, 23); for (int i = 0; i < 24; i++) p[threadIdx.x * 24 + i] = mine[i]; }"
    )
    p = rng.integers(-99, 99, (64, 24)).astype(np.int32)
    expected = np.sort(p, 1)
    cuda(source, p, block=64, observers=("hazards",)).raise_hazards()
    assert np.array_equal(p, expected)


def test_blocks_have_stacks_of_their_own(cuda):
    source = (
        "__device__ __noinline__ float f(int n) { return n == 0 ? 1.f : n * f(n - 1); }\n"
        + HEAD
        + "(float* o) { int i = blockIdx.x * 33 + threadIdx.x; o[i] = f(i % 11); }"
    )
    out = np.zeros(33 * 40, np.float32)
    cuda(source, out, grid=40, block=33)
    assert out.tolist() == [math.factorial(i % 11) for i in range(33 * 40)]


def test_a_recursion_without_end_stops(cuda):
    source = (
        "__device__ __noinline__ float f(float n) { return n < 0 ? 0 : f(n + 1) * 0.5f + n; }\n"
        + HEAD
        + "(float* o) { *o = f(1); }"
    )
    with pytest.raises(gpu_simulator.BudgetExceeded, match="the stack of a recursion"):
        cuda(source, np.zeros(1, np.float32), max_bytes=1 << 20, max_instructions=10_000_000)
    with pytest.raises(gpu_simulator.BudgetExceeded, match="warp instructions"):
        cuda(source, np.zeros(1, np.float32), max_instructions=2000)


def test_a_recursive_function_with_an_array_of_its_own_is_refused(cuda):
    source = (
        "__device__ __noinline__ int f(int n, const int* p) {\n  int a[8];\n  for (int i = 0; i < 8; i++) a[i] = p[i] + n;\n"
        "  return n < 2 ? a[p[0] & 7] : f(n - 1, a) + a[p[1] & 7];\n}\n" + HEAD + "(int* o) { *o = f(9, o); }"
    )
    with pytest.raises(gpu_simulator.UnsupportedInstruction, match="PTX line .*array of its own.*as a loop"):
        cuda(source, np.zeros(8, np.int32))


@pytest.mark.parametrize("deepest", [2048, pytest.param(frames.DEEPEST, marks=pytest.mark.long)])
def test_a_recursion_that_does_not_end_is_refused(cuda, monkeypatch, deepest):
    assert frames.DEEPEST == 32_768
    monkeypatch.setattr(frames, "DEEPEST", deepest)
    source = (
        "__device__ __noinline__ int f(int n) { return n == -1 ? 1 : f(n + 1) * 3 + 1; }\n"
        + HEAD
        + "(int* o) { o[threadIdx.x] = f(threadIdx.x); }"
    )
    with pytest.raises(gpu_simulator.MemoryFault, match=rf"thread \(0, 0, 0\) is {deepest:,} calls deep.*Does it end"):
        cuda(source, np.zeros(32, np.int32))
