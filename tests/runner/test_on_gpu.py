"""What only a GPU can show: launches, faults with their line, hangs, large checks, benchmarks, baselines."""

import numpy as np
import pytest

import gpu_runner as device
from gemm_lab.compiling import compile as compile_kernel
from gemm_lab.measure.benchmark import Entry, benchmark
from gemm_lab.measure.check import check
from gemm_lab.problem import Problem
from gpu_simulator.errors import LaunchError
from gpu_simulator.hardware import data_sheets as hardware

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not device.available(), reason=device.why_not() or "a GPU"),
    pytest.mark.timeout(600),
]

HEAD = 'extern "C" __global__ void __launch_bounds__(128) gemm'
ARGUMENTS = ("a", "b", "c", "d", "m", "n", "k", "alpha", "beta")


def build(body, name="mine"):
    return compile_kernel(body, config={}, arch=hardware.detect().arch, name=name)


def line_of(source, words):
    return next(i for i, line in enumerate(source.splitlines(), 1) if words in line)


def faulting(body, args, grid=(2, 1, 1), error=device.KernelFault, **options):
    kernel = build(body)
    with pytest.raises(error) as caught:
        device.launch(kernel, grid=grid, args=args, **options)
    print(f"\n{caught.value}")
    assert "ignored" not in caught.value.output  # of what destructors say in a lost context
    still_works()
    return caught.value


def still_works():
    kernel = build(HEAD + "(float* d, int n) { if (threadIdx.x < n) d[threadIdx.x] += 1.0f; }")
    out = device.launch(kernel, grid=(1, 1, 1), args=[np.arange(8, dtype=np.float32), 8])[0]
    assert np.array_equal(out, np.arange(8) + 1)


def test_a_launch_and_its_printf():
    kernel = build(HEAD + '(float* d, int n) { if (threadIdx.x == 3) printf("n is %d\\n", n); }')
    device.launch(kernel, grid=(1, 1, 1), args=[np.zeros(4, np.float32), 42])
    assert "n is 42" in device.session().output
    still_works()


@pytest.mark.skipif(
    not device.available() or int(hardware.detect().arch.strip("sm_af")) < 90, reason="clusters begin with 9.0"
)
def test_a_cluster_is_launched_with_its_size():
    kernel = build(
        HEAD + "(float* d, int n, float x) {\n  unsigned rank, size;\n"
        '  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));\n'
        '  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));\n'
        "  if (threadIdx.x == 0) d[blockIdx.x] = n * (int)size + (int)rank + x;\n}\n"
    )
    for size in (1, 2, 4):
        out = device.launch(kernel, grid=(8, 1, 1), args=[np.zeros(8, np.float32), -10, 0.5], cluster=(size, 1, 1))[0]
        assert out.tolist() == [-10 * size + block % size + 0.5 for block in range(8)]


def test_a_write_far_outside_names_line_thread_and_array():
    body = (
        HEAD + "(float* d, int n) {\n  int i = threadIdx.x;\n  if (i == 5 && blockIdx.x == 1)\n"
        "    d[1ll << 38] = n;\n}\n"
    )
    found = faulting(body, [np.zeros(1024, np.float32), 1])
    assert found.line == line_of(body, "1ll") and "1ll << 38" in found.text
    assert "block (1, 0, 0), thread (5, 0, 0)" in found.detail


def test_a_misaligned_read_names_its_line():
    body = (
        HEAD + "(float* d, int n) {\n  const float4* p = (const float4*)(d + 1);\n  float4 v = p[threadIdx.x];\n"
        "  d[threadIdx.x] = v.x + v.y + v.z + v.w;\n}\n"
    )
    found = faulting(body, [np.zeros(1024, np.float32), 1], grid=(1, 1, 1))
    assert found.line in (line_of(body, "p[threadIdx"), line_of(body, "v.x")) and "multiple of 16" in found.detail


def test_shared_memory_beyond_the_block_names_its_line():
    body = (
        HEAD + "(float* d, int n) {\n  __shared__ float tile[128];\n  tile[threadIdx.x + n * 1000000] = 1.0f;\n"
        "  __syncthreads();\n  d[threadIdx.x] = tile[127 - threadIdx.x];\n}\n"
    )
    found = faulting(body, [np.zeros(128, np.float32), 1], grid=(1, 1, 1))
    assert found.line == line_of(body, "1000000") and "shared" in found.detail


def test_an_endless_loop_is_stopped_and_named():
    body = HEAD + "(float* d, int n) {\n  volatile float* p = d;\n  while (p[0] == 0.0f)\n    ;\n  d[1] = n;\n}\n"
    found = faulting(body, [np.zeros(128, np.float32), 1], error=device.KernelHang, timeout_s=2.0)
    assert found.line in (3, 4) and "spins" in found.detail


def test_a_barrier_that_one_warp_waits_for_in_vain():
    body = (
        HEAD + '(float* d, int n) {\n  if (threadIdx.x < 32)\n    asm volatile("bar.sync 1, 128;");\n'
        '  else\n    asm volatile("bar.sync 2, 128;");\n  d[0] = n;\n}\n'
    )
    found = faulting(body, [np.zeros(128, np.float32), 1], error=device.KernelHang, timeout_s=2.0)
    assert found.line in (3, 5) and "barrier" in found.detail


def test_a_trap_names_its_line():
    found = faulting(HEAD + '(float* d, int n) {\n  if (n) asm volatile("trap;");\n}\n', [np.zeros(4, np.float32), 1])
    assert found.line == 2 and "trap" in found.detail


def test_too_much_memory_and_too_large_a_block_are_sentences():
    kernel = build(
        'extern "C" __global__ void __launch_bounds__(1024) gemm(float* d, int n) {\n'
        "  __shared__ float t[1000];\n  t[threadIdx.x % 1000] = n; __syncthreads();"
        "  d[threadIdx.x] = t[n];\n}\nconstexpr int SMEM_BYTES = 400000;\n"
    )
    with pytest.raises(LaunchError, match="shared memory"):
        device.launch(kernel, grid=(1, 1, 1), args=[np.zeros(1024, np.float32), 1])


def problem(dtype="f16", acc="f32", layout_a="row", layout_b="col"):
    return Problem("D = αAB + βC", dtype, acc, dtype, layout_a, layout_b, ARGUMENTS)


def naive(what, spoil=""):
    kind, zero = {
        "f16": ("__half", "__half2float"),
        "bf16": ("__nv_bfloat16", "__bfloat162float"),
        "f32": ("float", ""),
    }[what.dtype_in]
    header = {"f16": "cuda_fp16.h", "bf16": "cuda_bf16.h", "f32": "cuda_fp16.h"}[what.dtype_in]
    a = "i * k + x" if what.layout_a == "row" else "x * m + i"
    b = "x * n + j" if what.layout_b == "row" else "j * k + x"
    return build(
        f"""#include <{header}>
{HEAD}(const {kind}* a, const {kind}* b, const {kind}* c, {kind}* d, int m, int n, int k, float alpha, float beta) {{
  int j = blockIdx.x * 128 + threadIdx.x, i = blockIdx.y;
  if (j >= n) return;
  float sum = 0;
  for (int x = 0; x < k; ++x) sum += {zero}(a[{a}]) * {zero}(b[{b}]);
  sum = alpha * sum + beta * {zero}(c[i * n + j]);
  {spoil}
  d[i * n + j] = ({kind})sum;
}}
""",
        name=f"naive/{what.dtype_in}{what.layout_a}{what.layout_b}{bool(spoil)}",
    )


@pytest.mark.parametrize("kind", ["integers", "normal"])
@pytest.mark.parametrize(
    "what",
    [
        problem(),
        problem("bf16"),
        problem("f32", layout_b="row"),
        problem(layout_a="col", layout_b="row"),
        problem("f16", "f16"),
    ],
    ids=lambda what: f"{what.dtype_in}-{what.dtype_acc}-{what.layout_a}-{what.layout_b}",
)
def test_the_large_check_on_the_device(what, kind):
    m, n, k = 1536, 1280, 1100
    result = check(naive(what), what, grid=(n // 128, m, 1), m=m, n=n, k=k, block=(1, 128), kind=kind)
    assert result.passed, result.message
    result = check(
        naive(what, "if (i == 1027 && j == 300) sum += 3;"),
        what,
        grid=(n // 128, m, 1),
        m=m,
        n=n,
        k=k,
        block=(1, 128),
        kind=kind,
    )
    if kind == "integers" or what.dtype_acc == "f32":
        assert not result.passed and result.first_bad == (1027, 300) and result.wrong == 1
        assert result.bad_tiles == ((1027, 2),)


def test_a_large_check_that_faults_names_the_line():
    what = problem()
    kernel = naive(what, "if (i == 9) d += 1ll << 40;")
    with pytest.raises(device.KernelFault) as caught:
        check(kernel, what, grid=(10, 1536, 1), m=1536, n=1280, k=128)
    assert caught.value.line is not None and "accessed" in caught.value.detail


@pytest.mark.parametrize("regime", ["burst", "sustained"])
def test_a_benchmark_with_all_baselines(regime):
    what = Problem("D = AB", "bf16", "f32", "bf16", "row", "col", ("a", "b", "d", "m", "n", "k"))
    full = naive(problem("bf16"))
    kernel = Entry(
        "naive",
        compiled=full,
        grid=lambda m, n, k: (n // 128, m, 1),
        block=(1, 128),
        arguments=("a", "b", "b", "d", "m", "n", "k", 1.0, 0.0),
    )
    wrong = Entry(
        "wrong",
        compiled=naive(problem("bf16"), "sum += i == 5;"),
        grid=kernel.grid,
        arguments=("a", "b", "b", "d", "m", "n", "k", 1.0, 0.0),
    )
    ceiling = Entry(
        "ceiling",
        "ceiling",
        compiled=build(
            HEAD + "(float* d, int n) { float x = n;"
            " for (int i = 0; i < 4096; ++i) x = x * 0.5f + 1.0f; d[threadIdx.x] = x; }"
        ),
        grid=(1024, 1, 1),
        arguments=(("buffer", 512), 1),
        flops=1024 * 128 * 4096 * 2,
    )
    found = benchmark(
        [Entry("cublas", "cublas"), Entry("inductor", "inductor"), kernel, wrong, ceiling],
        [1024, 2048],
        what,
        regime,
        rounds=5,
    )
    print([(row.kernel, row.n, round(row.tflops, 1), row.sm_clock_mhz, row.power_w) for row in found], found.skipped)
    speed = {(row.kernel, row.n): row for row in found}
    assert speed["cublas", 2048].tflops > 1 and 500 < speed["cublas", 2048].sm_clock_mhz < 4000
    assert ("naive", 2048) in speed and ("wrong", 2048) not in speed and any("wrong" in key for key in found.skipped)
    assert ("inductor", 2048) in speed or any("inductor" in key for key in found.skipped)
    assert speed["cublas", 2048].ratio_cublas == 1.0
