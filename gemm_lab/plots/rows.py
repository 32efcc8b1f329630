"""Reading measurements: rows of `results/measured/<gpu>.csv`, or any objects with its columns as attributes.

Numbers may be strings; what is missing may be "" or None.
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
    "cutlass_sm75": "CUTLASS sm75",
    "cutlass_sm80": "CUTLASS sm80",
}


def text(row: Any, column: str) -> str:
    """A column as text; “” where it is missing."""
    value = getattr(row, column, None)
    return "" if value is None else str(value).strip()


def number(row: Any, column: str) -> float | None:
    """A column as a finite number, or None."""
    try:
        value = float(text(row, column))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def size_of(row: Any) -> tuple[int, int, int]:
    """(m, n, k), 0 where one is not given."""
    return tuple(int(number(row, axis) or 0) for axis in "mnk")  # type: ignore[return-value]


def short(name: str) -> str:
    """The name without its ladder."""
    return name.rsplit("/", 1)[-1]


def usable(measurements: Iterable[Any], what: str) -> list[Any]:
    """Rows with a speed, of one regime (sustained if any); of a kernel measured twice, the later row."""
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
    """The label of a baseline, "cuBLAS" for `cublas` and `cublas_f16`; None for any other row."""
    name = text(row, "kernel")
    return next((label for key, label in BASELINES.items() if name == key or name.startswith(f"{key}_")), None)


def is_rung(row: Any) -> bool:
    """Neither a baseline nor a ceiling."""
    return baseline_label(row) is None and not text(row, "kernel").startswith(("ceiling/", "ceilings/"))


def median(values: Iterable[float | None]) -> float | None:
    """The median of the values that are known, or None."""
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def baselines(rows: Sequence[Any], rungs: Sequence[Any]) -> dict[str, float]:
    """{label: TFLOPS} of the baseline rows at the rungs' size; cuBLAS also from the rungs' own column."""
    found = {}
    for row in rows:
        if not is_rung(row) and size_of(row) == size_of(rungs[0]):
            label = baseline_label(row)
            if label:
                found[label] = number(row, "tflops")
    cublas = median(number(row, "cublas_tflops") for row in rungs)
    return {"cuBLAS": cublas, **found} if cublas else found


def in_tflops(speed: float, decimals_below: float = 1000) -> str:
    """A speed as a number: 93.5 of 93.46, and with four digits 636.0; whole from `decimals_below` on."""
    return f"{speed:.0f}" if speed >= decimals_below else f"{speed:#.{3 if speed < 100 else 4}g}"


def conditions(rows: Sequence[Any], size: bool = True) -> str:
    """One or two lines that say under which conditions rows were measured; what is unknown is left out."""

    def one(column: str, form: str = "{}") -> str:
        values = sorted({text(row, column) for row in rows} - {""})
        return form.format(" and ".join(values)) if 0 < len(values) <= 2 else ""

    def reach(column: str) -> str:
        """The least and the most of many runs, the median of the rows of few."""
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
        one("driver", "driver {}"),
        one("cuda", "CUDA {}"),
        f"commit {commit}" if commit else "",
        one("date"),
    ]
    lines = [" · ".join(part for part in parts if part) for parts in (first, second)]
    return "\n".join(line for line in lines if line) or "conditions not recorded"
