"""`gemm-lab export NAME`: writes a standalone .cu file for nvcc and ncu. Its main checks and times the kernel.

`own_kernel` does the same for a kernel that a learner has written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gemm_lab import catalog
from gemm_lab.catalog import KernelSpec
from gemm_lab.config import data_dir
from gemm_lab.lab import export_launch
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.compiler.nvrtc_library import config_header
from gpu_simulator.errors import ConfigError, LabError
from gpu_simulator.hardware.data_sheets import gpu

_INCLUDE = re.compile(r'^#include "([^"]+)".*$', re.M)
_GRID = re.compile(r"(?:\b(?:cdiv|M|N|K)\b|[\d\s+*/(),-])+")
_C_TYPES = {"f16": "half", "bf16": "__nv_bfloat16", "f32": "float"}


def standalone(spec: KernelSpec, config: Mapping[str, int], source: str | None = None, arch: str | None = None) -> str:
    """The text of one .cu file: the kernel with its headers inlined and its constants fixed, and a main function.

    Build it with `nvcc -O3 -std=c++17 -arch=… file.cu` and run it with `./a.out [m n k]`. `source` replaces the rung's
    own text. arch: the default is that of the GPU that the kernel's ladder names. Raises `ConfigError` for one that the
    kernel is not written for, and `LabError` for a ceiling, which multiplies no matrices.
    """
    if spec.ceiling:
        raise LabError(f"{spec.name} cannot be exported: it is a loop that measures a peak and multiplies no matrices.")
    spec = spec.clustered(config)
    arch = arch or gpu(catalog.ladder(spec.ladder).gpu).arch
    if not spec.written_for(arch):
        raise ConfigError(f"{spec.name} {spec.not_for(arch)}.")
    # Given -arch=sm_90a, nvcc 13.0 also builds for compute_90, where there is no wgmma.
    target = f"-gencode arch={arch.replace('sm', 'compute')},code={arch}" if arch[-1] in "af" else f"-arch={arch}"
    seen: set[str] = set()

    def inline(text: str) -> str:
        def replace(match: re.Match) -> str:
            name = match[1]
            if name in seen:
                return f"// {name}: above"
            seen.add(name)
            if name == "config.cuh":
                return config_header(config).replace("#pragma once\n", "").rstrip()
            body = (data_dir("kernels") / "include" / name).read_text(encoding="utf-8")
            return inline(body.replace("#pragma once\n", "")).rstrip()

        return _INCLUDE.sub(replace, text)

    return (
        f"// {spec.name}, exported by gemm-lab.\n"
        f"// Build: nvcc -O3 -std=c++17 {target} FILE.cu   Run: ./a.out [m n k]\n"
        f"#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n{inline(source or spec.source)}\n{_main(spec, config)}"
    )


@checked
def own_kernel(source: str, grid: Sequence[str], block: Sequence[int]) -> str:
    """The text of one .cu file: a learner's kernel, with a main that checks and times it at any size.

    source: has `extern "C" __global__ void gemm(const float*, const float*, float*, int, int, int)`: A, B, D, m, n, k,
    all row-major.   grid: one or two expressions over M, N and K, such as "cdiv(N, 16)", for x and y.   block: threads
    in x and y. Raises `ConfigError` for a text without a kernel gemm and for a grid or block of another form.
    """
    if not re.search(r"__global__\s+void\s+(__launch_bounds__\([^)]*\)\s*)?gemm\s*\(", source):
        raise ConfigError("This text has no kernel “gemm”. Its line is: __global__ void gemm(const float* a, …).")
    threads = [as_whole(extent) for extent in block]
    if not 1 <= len(threads) <= 2 or any(extent is None or extent < 1 for extent in threads):
        raise ConfigError(f"block is one or two whole numbers of threads, such as (16, 16), not {shown(block)}.")
    if isinstance(grid, str) or not 1 <= len(grid) <= 2 or not all(_GRID.fullmatch(str(extent)) for extent in grid):
        raise ConfigError(f'grid is one or two texts such as "cdiv(N, 16)", over M, N and K, not {shown(grid)}.')
    x, y = (*map(str, grid), "1")[:2]
    spec = replace(catalog.kernel("simt/01_naive"), name="your kernel", path=Path("gemm.cu"), grid=(x, y, "1"))
    text = standalone(spec, {}, source)
    return text.replace("<<<grid, NUM_THREADS,", f"<<<grid, dim3({', '.join(map(str, threads))}),")


def _main(spec: KernelSpec, config: Mapping[str, int]) -> str:
    problem = spec.problem
    t_in, t_out = _C_TYPES[problem.dtype_in], _C_TYPES[problem.dtype_out]
    values = {"a": "a", "b": "b", "c": "c", "d": "d", "m": "M", "n": "N", "k": "K", "alpha": "alpha", "beta": "beta"}
    arguments = ", ".join(values.get(name, name) for name in problem.arguments)  # a tensor map has its own name
    grid = ", ".join(_c_expression(expression) for expression in spec.grid)
    at_a = "row * (size_t)K + i" if problem.layout_a == "row" else "i * (size_t)M + row"
    at_b = "i * (size_t)N + col" if problem.layout_b == "row" else "col * (size_t)K + i"
    multiples = " || ".join(
        f"{axis.upper()} % ({_c_expression(str(expression))})" for axis, expression in spec.multiples.items()
    )
    smem = "SMEM_BYTES" if re.search(r"constexpr\s+int\s+SMEM_BYTES", spec.source) else "0"
    alpha, beta = ("2.0f", "-1.0f") if problem.uses_c else ("1.0f", "0.0f")
    return f"""
// ---- Host: integers in, exact result out; then N(0,1) in, and the clock ----
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <thread>

static void require(cudaError_t status, const char* what) {{
  if (status != cudaSuccess) {{ std::printf("%s: %s\\n", what, cudaGetErrorString(status)); std::exit(1); }}
}}
static int host_cdiv(int a, int b) {{ return (a + b - 1) / b; }}{export_launch.encoder(spec)}

__device__ unsigned hash(unsigned h) {{
  h *= 2654435761u; h ^= h >> 15; h *= 2246822519u; h ^= h >> 13; h *= 3266489917u; return h ^ h >> 16;
}}
// Fills an array with -1, 0 and 1, or with N(0,1) by the Box-Muller transform.
template <class T> __global__ void fill(T* array, size_t count, unsigned seed, bool normal) {{
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {{
    const unsigned h = hash((unsigned)i ^ hash(seed)), g = hash(h ^ 0x9e3779b9u);
    const float radius = sqrtf(-2.0f * logf((h + 0.5f) * 0x1p-32f)), angle = 6.2831853f * (g * 0x1p-32f);
    array[i] = T(normal ? radius * cosf(angle) : (float)((int)(h % 3) - 1));
  }}
}}
__global__ void compare(const {t_in}* a, const {t_in}* b, const {t_out}* c, const {t_out}* d, int M, int N, int K,
                        float alpha, float beta, int* wrong) {{
  const size_t row = blockIdx.y, col = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (col >= N) return;
  float sum = 0.0f;
  for (size_t i = 0; i < K; i++) sum += (float)a[{at_a}] * (float)b[{at_b}];
  const float want = (float){t_out}(alpha * sum + (beta != 0.0f ? beta * (float)c[row * N + col] : 0.0f));
  if (!((float)d[row * N + col] == want)) atomicAdd(wrong, 1);
}}

int main(int argc, char** argv) {{
  const int M = argc > 1 ? std::atoi(argv[1]) : 1024, N = argc > 2 ? std::atoi(argv[2]) : M;
  const int K = argc > 3 ? std::atoi(argv[3]) : M;
  if (M < 1 || N < 1 || K < 1{" || " + multiples if multiples else ""}) {{
    std::printf("this kernel cannot do M %d, N %d, K %d\\n", M, N, K);
    return 1;
  }}
  const float alpha = {alpha}, beta = {beta};
  // Launches take the sets of matrices in turn, so that none finds its own in the L2 cache. Each starts at 256 bytes.
  int l2; require(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, 0), "device");
  const auto pitch = [](size_t count) {{ return (count + 255) / 256 * 256; }};
  const size_t size_a = pitch((size_t)M * K), size_b = pitch((size_t)K * N), size_d = pitch((size_t)M * N);
  const size_t bytes = (size_a + size_b) * sizeof({t_in}) + size_d * sizeof({t_out});
  const int sets = 1 + (int)(2 * (size_t)l2 / bytes < 63 ? 2 * (size_t)l2 / bytes : 63);
  {t_in} *all_a, *all_b; {t_out} *all_c, *all_d; int* wrong;
  require(cudaMalloc(&all_a, sets * size_a * sizeof *all_a), "A");
  require(cudaMalloc(&all_b, sets * size_b * sizeof *all_b), "B");
  require(cudaMalloc(&all_c, sets * size_d * sizeof *all_c), "C");
  require(cudaMalloc(&all_d, sets * size_d * sizeof *all_d), "D");
  require(cudaMalloc(&wrong, sizeof *wrong), "counter"); cudaMemset(wrong, 0, sizeof *wrong);
  const auto fill_all = [&](bool normal) {{
    fill<<<1024, 256>>>(all_a, sets * size_a, 1u, normal); fill<<<1024, 256>>>(all_b, sets * size_b, 2u, normal);
    fill<<<1024, 256>>>(all_c, sets * size_d, 3u, normal);
  }};
  fill_all(false); cudaMemset(all_d, 0xff, sets * size_d * sizeof *all_d);   // NaN in every type
{export_launch.multiprocessors(spec)}  const dim3 grid({grid});
  require(cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, {smem}), "shared memory");
{export_launch.start(spec, config, t_in, t_out, smem, arguments)}  start(0);
  require(cudaGetLastError(), "launch"); require(cudaDeviceSynchronize(), "kernel");
  compare<<<dim3(host_cdiv(N, 256), M), 256>>>(all_a, all_b, all_c, all_d, M, N, K, alpha, beta, wrong);
  int count; require(cudaMemcpy(&count, wrong, sizeof count, cudaMemcpyDeviceToHost), "check");
  std::printf("%s: %d of %zu elements wrong\\n", count ? "FAIL" : "PASS", count, (size_t)M * N);
  fill_all(true);
  cudaEvent_t begin, end; cudaEventCreate(&begin); cudaEventCreate(&end);
  const auto time = [&](int turns) {{   // ms per launch
    cudaEventRecord(begin);
    for (int i = 0; i < turns; i++) start(i % sets);
    cudaEventRecord(end); require(cudaEventSynchronize(end), "timing");
    float ms; cudaEventElapsedTime(&ms, begin, end); return ms / turns;
  }};
  time(sets);
  const float one = time(sets);
  float burst = 0.0f;
  for (int i = 0; i < 10; i++) {{
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    burst += time(one < 5.0f ? (int)(5.0f / one) + 1 : 1) / 10;
  }}
  const int second = one < 1000.0f ? (int)(1000.0f / one) + 1 : 1;
  time(2 * second);                    // until power and clock have settled
  const float sustained = time(second);
  const double work = 2e-9 * M * N * K;
  std::printf("N(0,1), %d sets of matrices in turn: burst %.3f ms, %.1f TFLOPS (5 ms after 0.15 s idle, mean of 10); "
              "sustained %.3f ms, %.1f TFLOPS (1 s after 2 s)\\n",
              sets, burst, work / burst, sustained, work / sustained);
  return count != 0;
}}
"""


def _c_expression(expression: str) -> str:
    """An expression of ladder.toml as C host code: `//` becomes `/`, and cdiv gets a name that no kernel defines."""
    return re.sub(r"\bcdiv\(", "host_cdiv(", expression.replace("//", "/"))
