"""`gemm-lab export NAME`: writes a standalone .cu file for nvcc and ncu. Its main checks and times the kernel.

`own_kernel` does the same for a kernel that a learner has written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Template

from gemm_lab import catalog
from gemm_lab.catalog import KernelSpec
from gemm_lab.config import data_dir
from gemm_lab.lab import export_launch
from gemm_lab.lab.actions.source import C_NAMES
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.compiler.nvrtc_library import config_header
from gpu_simulator.errors import ConfigError
from gpu_simulator.hardware.data_sheets import gpu

_INCLUDE = re.compile(r'^#include "([^"]+)".*$', re.M)
_GRID = re.compile(r"(?:\b(?:cdiv|M|N|K)\b|[\d\s+*/(),-])+")
# The parts of main that a problem with scales has beyond others: those of one line; exported/scales.cu has the rest.
_SCALES = {
    "SCALE_PARAMETERS": ", const float* scale_a, const float* scale_b",
    "SCALE_ARGUMENTS": ", scale_a, scale_b",
    "SCALE_FACTORS": (
        "\n           * scale_a[i / 128 * (size_t)M + row] * scale_b[col / 128 * (size_t)((K + 127) / 128) + i / 128]"
    ),
}
_SECTION = re.compile(r"^// (\w+)\n(.*?)(?=^// [A-Z_]+\n|\Z)", re.M | re.S)


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

    source = source or spec.source
    fp8 = "#include <cuda_fp8.h>\n" if spec.problem.dtype_in == "e4m3" else ""
    return (
        f"// {spec.name}, exported by gemm-lab.\n"
        f"// Build: nvcc -O3 -std=c++17 {target} FILE.cu   Run: ./a.out [m n k]\n"
        f"#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n{fp8}{inline(source)}\n{_main(spec, config, source)}"
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


def _main(spec: KernelSpec, config: Mapping[str, int], source: str) -> str:
    problem = spec.problem
    t_in, t_out = C_NAMES[problem.dtype_in], C_NAMES[problem.dtype_out]
    arguments = ", ".join(name.upper() if name in "mnk" else name for name in problem.arguments)
    grid = ", ".join(_c_expression(expression) for expression in spec.grid)
    at_a = "row * (size_t)K + i" if problem.layout_a == "row" else "i * (size_t)M + row"
    at_b = "i * (size_t)N + col" if problem.layout_b == "row" else "col * (size_t)K + i"
    multiples = " || ".join(
        f"{axis.upper()} % ({_c_expression(str(expression))})" for axis, expression in spec.multiples.items()
    )
    smem = "SMEM_BYTES" if re.search(r"constexpr\s+int\s+SMEM_BYTES", source) else "0"
    alpha, beta = ("2.0f", "-1.0f") if problem.uses_c else ("1.0f", "0.0f")
    scales = _SCALES | dict(_SECTION.findall(export_launch.text("scales.cu")))
    return "\n" + Template(export_launch.text("main.cu")).substitute(
        TENSOR_MAPS=export_launch.encoder(spec),
        T_IN=t_in,
        T_OUT=t_out,
        AT_A=at_a,
        AT_B=at_b,
        NO_MULTIPLE=" || " + multiples if multiples else "",
        ALPHA=alpha,
        BETA=beta,
        MULTIPROCESSORS=export_launch.multiprocessors(spec),
        GRID=grid,
        SMEM=smem,
        **(scales if problem.scaled else dict.fromkeys(scales, "")),
        START=export_launch.start(spec, config, t_in, t_out, smem, arguments),
    )


def _c_expression(expression: str) -> str:
    """An expression of ladder.toml as C host code: `//` becomes `/`, and cdiv gets a name that no kernel defines."""
    return re.sub(r"\bcdiv\(", "host_cdiv(", expression.replace("//", "/"))
