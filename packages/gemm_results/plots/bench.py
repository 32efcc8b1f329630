"""Plots a Bench as a ladder, beside the speeds that others have published."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gemm_results.errors import LabError
from gemm_results.plots import rows as read
from gemm_results.plots.bars import bars
from gemm_results.plots.speed import ladder
from gemm_results.published import Published
from gemm_results.published import published as figures
from gemm_results.results import Measurement
from gpu_simulator.hardware.data_sheets import GPUS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_SIDE_BY_SIDE = 14


def bench(bench: Any, *, lit: str | None = None, n: int | None = None, published: bool = True) -> Figure:
    """The rows of a Bench (`.rows`, `.ladder.spec`) at size n, by default the largest, as `ladder` draws them.

    published: also show the figures of results/published.csv for each rung that follows a published kernel (attribute
    `published` of its KernelSpec, such as "kernel3"). lit: the kernel to highlight. Ladders of more than
    MOST_SIDE_BY_SIDE rungs are drawn with horizontal bars. Raises `LabError` if no row has this size.
    """
    n = n or max((row.n for row in bench.rows), default=None)
    rows = [row for row in bench.rows if row.n == n]
    if bench.rows and not rows:
        known = ", ".join(str(size) for size in sorted({row.n for row in bench.rows}))
        raise LabError(f"There is nothing to plot at {n}; the measured sizes are {known}.")
    if sum(read.is_rung(row) for row in rows) > MOST_SIDE_BY_SIDE:
        return _lying(rows, bench.ladder.spec, n, lit, published)
    return ladder(rows, lit=lit, published=published_rows(bench.ladder.spec, n) if published else ())


def _lying(rows: list[Measurement], spec: Any, n: int, lit: str | None, published: bool) -> Figure:
    """Many rungs as horizontal bars, with the speeds that were published for this size on its own GPU."""
    rungs = [row for row in rows if read.is_rung(row)]
    ceiling = read.median(row.ceiling_tflops for row in rungs)
    lines = read.baselines(rows, rungs) | ({"ceiling": ceiling} if ceiling else {})
    names = {rung.published: rung.name for rung in spec.kernels if rung.published}
    speeds = (
        {
            names[row.kernel]: row.speed
            for row in figures()
            if row.kernel in names and row.gpu == spec.gpu and row.n == n and row.speed
        }
        if published
        else {}
    )
    return bars(rungs, lines=lines, lit=lit, published=speeds, published_on=GPUS[spec.gpu].name if spec.gpu else "")


def published_rows(spec: Any, n: int) -> list[Published]:
    """Rows of results/published.csv for the rungs of a ladder, with the name of the rung as `kernel`.

    Only rows of size n, or whose size the text does not give, are used. If a text
    gives TFLOPS but no share of cuBLAS, the share is computed from its own cuBLAS at the same size; it may be None.
    """
    rungs = {rung.published: rung.name for rung in spec.kernels if getattr(rung, "published", None)}
    if not rungs:
        return []
    cublas = {(row.gpu, row.n, row.dtype, row.source): row.tflops for row in figures() if row.kernel == "cublas"}
    found = []
    for row in figures():
        if row.kernel not in rungs or row.gpu != spec.gpu or row.n not in (None, n):
            continue
        base = cublas.get((row.gpu, row.n, row.dtype, row.source))
        share = row.percent_of_cublas or (100 * row.tflops / base if row.tflops and base else None)
        found.append(replace(row, kernel=rungs[row.kernel], percent_of_cublas=share))
    return found
