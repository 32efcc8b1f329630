"""Reads measurements: rows of `results/measured/<gpu>.csv`, or any objects with its columns as attributes.

Numbers may be strings; missing values may be "" or None.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from gpu_simulator.errors import LabError

BASELINES = {
    "cublas": "cuBLAS",
    "inductor": "Inductor",
    "cublaslt_best": "cuBLASLt, best",
    "cutlass_sm75": "CUTLASS sm75",
    "cutlass_sm80": "CUTLASS sm80",
}


def text(row: Any, column: str) -> str:
    """A column as text; "" if it is missing."""
    value = getattr(row, column, None)
    return "" if value is None else str(value).strip()


def number(row: Any, column: str) -> float | None:
    """A column as a finite number; None if it is missing or not one."""
    try:
        value = float(text(row, column))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def size_of(row: Any) -> tuple[int, int, int]:
    """(m, n, k), with 0 for one that is missing."""
    return tuple(int(number(row, axis) or 0) for axis in "mnk")  # type: ignore[return-value]


def short(name: str) -> str:
    """The name of a kernel without its ladder: "03_swizzled" for "t4/03_swizzled"."""
    return name.rsplit("/", 1)[-1]


def usable(measurements: Iterable[Any], what: str) -> list[Any]:
    """Rows with a speed, only sustained ones if there are any; if a kernel has two rows at one size, the later.

    what: the plot, for the `LabError` that is raised if no row has a speed.
    """
    rows = [row for row in measurements if number(row, "tflops") is not None]
    if not rows:
        raise LabError(
            f"There is nothing to plot: {what} needs at least one measurement with a speed in "
            "TFLOPS; `lab.ladder(...).bench([2048])` makes some, and results/measured holds recorded ones."
        )
    regimes = {text(row, "regime") for row in rows}
    if "sustained" in regimes:
        rows = [row for row in rows if text(row, "regime") == "sustained"]
    latest = {(text(row, "kernel"), size_of(row)): row for row in rows}
    return list(latest.values())


def baseline_label(row: Any) -> str | None:
    """The label of a baseline, such as "cuBLAS" for `cublas` and `cublas_f16`; None for other rows."""
    name = text(row, "kernel")
    return next((label for key, label in BASELINES.items() if name == key or name.startswith(f"{key}_")), None)


def is_rung(row: Any) -> bool:
    """Whether the row is neither a baseline nor a ceiling."""
    return baseline_label(row) is None and not text(row, "kernel").startswith(("ceiling/", "ceilings/"))


def median(values: Iterable[float | None]) -> float | None:
    """The median of the values that are not None; None if there are none."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def baselines(rows: Sequence[Any], rungs: Sequence[Any]) -> dict[str, float]:
    """{label: TFLOPS} of the baselines at the size of `rungs`.

    Without a cuBLAS row, cuBLAS is the median of the rungs' column `cublas_tflops`.
    """
    found = {}
    for row in rows:
        if not is_rung(row) and size_of(row) == size_of(rungs[0]):
            label = baseline_label(row)
            if label:
                found[label] = number(row, "tflops")
    cublas = median(number(row, "cublas_tflops") for row in rungs)
    return {"cuBLAS": cublas, **found} if cublas else found


def in_tflops(speed: float, decimals_below: float = 1000) -> str:
    """A speed as text: three digits below 100 ("93.5"), else four ("636.0"); whole from `decimals_below` on."""
    return f"{speed:.0f}" if speed >= decimals_below else f"{speed:#.{3 if speed < 100 else 4}g}"


def conditions(rows: Sequence[Any], size: bool = True) -> str:
    """One or two lines with the conditions of the measurements; unknown ones are left out. size: name a common size."""

    def one(column: str, form: str = "{}") -> str:
        values = sorted({text(row, column) for row in rows} - {""})
        return form.format(" and ".join(values)) if 0 < len(values) <= 2 else ""

    def reach(column: str) -> str:
        """The range of a column if the rungs are of several ladders, else its median."""
        values = sorted(value for row in rows if (value := number(row, column)) is not None)
        many = len({text(row, "ladder") for row in rows if is_rung(row)}) > 1
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
    commit = one("commit")
    second = [
        "inputs N(0, 1)",  # of every measurement of kernels and baselines (gpu_runner/timing/rounds.py)
        one("driver", "driver {}"),
        one("cuda", "CUDA {}"),
        f"commit {commit}" if commit else "",
        one("date"),
    ]
    lines = [" · ".join(part for part in parts if part) for parts in (first, second)]
    return "\n".join(line for line in lines if line) or "conditions not recorded"
