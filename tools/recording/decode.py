"""`python -m tools.recording decode`: products with few rows of A beside cuBLAS, for results/decode/<gpu>.csv.

B is read from DRAM: the copies of the inputs, which take turns, are more than L2 holds (`gpu_runner.timing.rounds`).
"""

from __future__ import annotations

import csv
import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gemm_lab.config import data_dir
from gemm_lab.lab.here import Here
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_lab.lab.measuring import benchmark_kernels
from gemm_results.errors import LabError
from gemm_results.results import append, path_for

EDGE, ROWS, SPLITS, DEPTHS = 4096, (16, 32, 64), (2, 4, 8, 16), (512, 1024, 2048, 8192)
REGIMES, OTHERS = ("burst", "sustained"), ("ampere/11_any_size", "hopper/08_ping_pong")
# Of 04_wgmma with so many rows of A: what a search over tiles, stages and parts found fastest on an H100.
FASTEST = {
    16: {"BLOCK_M": 16},
    32: {"BLOCK_M": 32},
    64: {"BLOCK_M": 64},
}


def kernels(m: int) -> list[Kernel]:
    """One tile a block, split-K in several numbers of parts with the same tiles, in a cluster, with wgmma; and others."""
    cut = kernel("decode/02_split_k")
    made = [kernel("decode/01_one_tile")(BLOCK_M=m), *(cut(BLOCK_M=m, SPLIT=parts) for parts in SPLITS)]
    return [
        *made,
        kernel("decode/03_cluster")(BLOCK_M=m),
        kernel("decode/04_wgmma")(**FASTEST[m]),
        *map(kernel, OTHERS),
    ]


def record_decode(where: Here, into: Path | None = None) -> Path:
    """Measure, write results/decode/<gpu>.csv and <gpu>_cublas.csv, and return the path of the first."""
    if not where.usable or where.present is None:
        raise LabError(f"Nothing can be timed here: {where.reason}")
    path = path_for(where.present, into or data_dir("results") / "decode")
    for m, depth, regime in _runs():
        made = [one for one in kernels(m) if one.spec.written_for(where.arch)]
        baselines = ["cublas", "cublaslt_best"] if depth == EDGE else ["cublas"]
        rows = benchmark_kernels(
            made, [(m, EDGE, depth)], baselines=baselines, ceiling=None, regime=regime, rounds=None, progress=True
        )
        append([replace(row, kernel=row.kernel.split(" (")[0]) for row in rows], path)
    names = [(m, name, f"{spent:.2f}") for m in ROWS for name, spent in library_kernels(m)]
    with path.with_name(f"{path.stem}_cublas.csv").open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["m", "kernel", "microseconds", "gpu", "date"])
        out.writerows([*row, where.present.name, datetime.date.today().isoformat()] for row in names)
    return path


def _runs() -> Iterator[tuple[int, int, str]]:
    yield from ((m, EDGE, regime) for m in ROWS for regime in REGIMES)
    yield from ((64, depth, "burst") for depth in DEPTHS)


def library_kernels(m: int) -> list[tuple[str, float]]:
    """(name, microseconds) of the kernels that cuBLAS launches for m rows of A, by PyTorch's profiler."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    a, b = (torch.randn(rows, EDGE, device="cuda").bfloat16() for rows in (m, EDGE))
    torch.mm(a, b.t())
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        torch.mm(a, b.t())
        torch.cuda.synchronize()
    return [(each.key, each.device_time_total) for each in found.key_averages() if each.device_time_total]
