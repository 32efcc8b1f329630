"""What the plots of measurements have in common: which rows they draw, their labels, and the conditions in words."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from gemm_results.errors import LabError
from gemm_results.results import Measurement

BASELINES = {
    "cublas": "cuBLAS",
    "inductor": "Inductor",
    "cublaslt_best": "cuBLASLt, best",
    "cublaslt_fp8_fast": "cuBLASLt FP8, fast accumulation",
    "cublaslt_fp8_blocks": "cuBLASLt FP8, block scales",
    "cublaslt_fp8": "cuBLASLt FP8",
    "cutlass_sm75": "CUTLASS sm75",
    "cutlass_sm80": "CUTLASS sm80",
}


def size_of(row: Measurement) -> tuple[int, int, int]:
    """(m, n, k)."""
    return row.m, row.n, row.k


def short(name: str) -> str:
    """The name of a kernel without its ladder: "03_swizzled" for "t4/03_swizzled"."""
    return name.rsplit("/", 1)[-1]


def usable(measurements: Iterable[Measurement], what: str) -> list[Measurement]:
    """Only sustained rows if there are any; if a kernel has two rows at one size, the later.

    what: the plot, for the `LabError` that is raised if there is no row.
    """
    rows = list(measurements)
    if not rows:
        raise LabError(
            f"There is nothing to plot: {what} needs at least one measurement with a speed in "
            "TFLOPS; `lab.ladder(...).bench([2048])` makes some, and results/measured holds recorded ones."
        )
    rows = [row for row in rows if row.regime == "sustained"] or rows
    return list({(row.kernel, size_of(row)): row for row in rows}.values())


def baseline_label(row: Measurement) -> str | None:
    """The label of a baseline, such as "cuBLAS" for `cublas` and `cublas_f16`; None for other rows."""
    name = row.kernel
    return next((label for key, label in BASELINES.items() if name == key or name.startswith(f"{key}_")), None)


def is_rung(row: Measurement) -> bool:
    """Whether the row is neither a baseline nor a ceiling."""
    return baseline_label(row) is None and not row.kernel.startswith(("ceiling/", "ceilings/"))


def median(values: Iterable[float | None]) -> float | None:
    """The median of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def baselines(rows: Sequence[Measurement], rungs: Sequence[Measurement]) -> dict[str, float]:
    """{label: TFLOPS} of the baselines at the size of `rungs`.

    Without a cuBLAS row, cuBLAS is the median of the rungs' column `cublas_tflops`.
    """
    alike = [row for row in rows if size_of(row) == size_of(rungs[0])]
    found = {label: row.tflops for row in alike if (label := baseline_label(row))}
    cublas = median(row.cublas_tflops for row in rungs)
    return {"cuBLAS": cublas, **found} if cublas else found


def in_tflops(speed: float, decimals_below: float = 1000) -> str:
    """A speed as text: three digits below 100 ("93.5"), else four ("636.0"); whole from `decimals_below` on."""
    return f"{speed:.0f}" if speed >= decimals_below else f"{speed:#.{3 if speed < 100 else 4}g}"


def conditions(rows: Sequence[Measurement], size: bool = True) -> str:
    """One or two lines with the conditions of the measurements; unknown ones are left out. size: name a common size."""

    def one(column: str, form: str = "{}") -> str:
        values = sorted({getattr(row, column) or "" for row in rows} - {""})
        return form.format(" and ".join(values)) if 0 < len(values) <= 2 else ""

    def reach(column: str) -> str:
        """The range of a column if the rungs are of several ladders, else its median."""
        values = sorted(value for row in rows if math.isfinite(value := getattr(row, column)))
        many = len({row.ladder for row in rows if is_rung(row)}) > 1
        return f"{values[0]:.0f} to {values[-1]:.0f}" if values and many else f"{median(values):.0f}" if values else ""

    clock, power = reach("sm_clock_mhz"), reach("power_w")
    sizes = sorted({size_of(row) for row in rows})
    what = " × ".join(map(str, sizes[0])) if size and len(sizes) == 1 else ""
    first = [
        one("gpu"),
        what,
        one("regime"),
        f"SM clock {clock} MHz" if clock else "",
        f"{power} W" if power else "",
    ]
    second = [
        "inputs N(0, 1)",  # of every measurement of kernels and baselines (gpu_runner/timing/rounds.py)
        one("driver", "driver {}"),
        one("cuda", "CUDA {}"),
        one("commit", "commit {}"),
        one("date"),
    ]
    lines = [" · ".join(filter(None, parts)) for parts in (first, second)]
    return "\n".join(filter(None, lines))
