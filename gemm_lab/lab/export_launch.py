"""Writes the C++ code that launches an exported kernel: tensor maps, clusters and persistent grids."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from gemm_lab.catalog import KernelSpec
from gemm_lab.problem import DTYPE_BYTES

_MAP_TYPES = {"f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT32", "e4m3": "UINT8"}


def encoder(spec: KernelSpec) -> str:
    """The C++ function that encodes tensor maps, to be placed before main; "" if the kernel has none.

    The program gets the driver's function from the runtime, so it does not have to be linked with libcuda. See CUDA
    Driver API, "Tensor Map Object Management"; CUDA Runtime API, "Driver Entry Point Access".
    """
    return text("tensor_map.cu") if spec.problem.tensor_maps else ""


def text(file: str) -> str:
    """A part of an exported program that is written in C++."""
    return (Path(__file__).parent / "exported" / file).read_text(encoding="utf-8")


def maps(spec: KernelSpec, config: Mapping[str, int]) -> str:
    """Statements of `start` that create the tensor maps. Each variable has the name of the kernel's argument."""
    lines = []
    for name, made in spec.problem.configured(config).tensor_maps:
        kind = spec.problem.dtype(made.array)
        rows, columns = _shape(spec, made.array)
        swizzle = f"{made.swizzle}B" if made.swizzle else "NONE"
        box_columns, box_rows = made.box
        lines.append(
            f"    const CUtensorMap {name} = tensor_map(CU_TENSOR_MAP_DATA_TYPE_{_MAP_TYPES[kind]}, "
            f"{DTYPE_BYTES[kind]}, {made.array}, {rows}, {columns}, {box_columns}, {box_rows}, "
            f"CU_TENSOR_MAP_SWIZZLE_{swizzle});\n"
        )
    return "".join(lines)


def _shape(spec: KernelSpec, array: str) -> tuple[str, str]:
    """(rows, columns) of a matrix as it is stored in memory, as C expressions."""
    blocks_n, blocks_k = "host_cdiv(N, 128)", "host_cdiv(K, 128)"
    logical = {"a": ("M", "K"), "b": ("K", "N"), "scale_a": (blocks_k, "M"), "scale_b": (blocks_n, blocks_k)}.get(
        array, ("M", "N")
    )
    layout = {"a": spec.problem.layout_a, "b": spec.problem.layout_b}.get(array, "row")
    return logical if layout == "row" else logical[::-1]


def multiprocessors(spec: KernelSpec) -> str:
    """Statements of main that set SMS for a persistent grid, rounded down to whole clusters; "" for other grids."""
    if not any("SMS" in expression for expression in spec.grid):
        return ""
    x, y, z = spec.cluster
    return '  int SMS; require(cudaDeviceGetAttribute(&SMS, cudaDevAttrMultiProcessorCount, 0), "device");\n' + (
        f"  SMS = SMS / {x * y * z} * {x * y * z};   // whole clusters\n" if x * y * z > 1 else ""
    )


def start(spec: KernelSpec, config: Mapping[str, int], t_in: str, t_out: str, smem: str, arguments: str) -> str:
    """Statements of main that define `start(set)`, which launches the kernel once, on a set of matrices."""
    lines, run = "", f"gemm<<<grid, NUM_THREADS, {smem}>>>({arguments});"
    if spec.cluster != (1, 1, 1):
        lines = Template(text("cluster.cu")).substitute(dict(zip("XYZ", spec.cluster, strict=True)), SMEM=smem)
        run = f'require(cudaLaunchKernelEx(&launch, gemm, {arguments}), "launch");'
    return f"""{lines}  const auto start = [&](int set) {{
    [[maybe_unused]] {t_in} *a = all_a + set * size_a, *b = all_b + set * size_b;
    [[maybe_unused]] {t_out} *c = all_c + set * size_d, *d = all_d + set * size_d;
{maps(spec, config)}    {run}
  }};
"""
