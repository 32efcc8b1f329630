"""The speed-up of one idea: the ratio of two rows of one run, round by round.

Rows of different runs are never divided, because the ratio would include differences of clock, date or commit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemm_results.errors import LabError

RUN = {
    "ladder": "ladder",
    "regime": "regime",
    "m": "M",
    "n": "N",
    "k": "K",
    "gpu": "GPU",
    "driver": "driver",
    "cuda": "CUDA version",
    "commit": "commit",
    "date": "date",
    "cublas_tflops": "cuBLAS in turns with it",
    "ceiling_tflops": "ceiling in turns with it",
}  # columns that are equal in all rows of one run, and their names in messages


@dataclass(frozen=True)
class Gain:
    """How many times faster `after` is than `before`.

    paired: whether ratio, low and high are the median and the quartiles over the rounds of the run, in which both took
    turns. Without recorded samples, ratio is that of the medians, and low and high are the smallest and the largest
    ratio between the quartiles of both rows.
    """

    before: Any
    after: Any
    ratio: float
    low: float
    high: float
    paired: bool

    @property
    def moved(self) -> dict[str, tuple[int, int]]:
        """Settings that differ, such as {"BLOCK_K": (64, 32)}, of those that both have. Empty if none differs."""
        old, new = settings(self.before), settings(self.after)
        return {name: (old[name], new[name]) for name in old if name in new and old[name] != new[name]}

    @property
    def clear(self) -> bool:
        """Whether both quartiles are above 1, or both below."""
        return self.low > 1 or self.high < 1


def settings(row: Any) -> dict[str, int]:
    """The configuration of a row as numbers by name, from text such as "BLOCK_M=128 BLOCK_N=256"."""
    return {name: int(value) for name, value in (word.split("=") for word in row.config.split())}


def gain(before: Any, after: Any, samples: Mapping[Any, Sequence[float]] | None = None) -> Gain:
    """The gain of `after` over `before`, two rows of `results/measured`.

    samples: {row: milliseconds, one per round}. Raises `LabError` for rows of different runs, naming what differs.
    """
    apart = [
        f"{words} {getattr(before, name)} and {getattr(after, name)}"
        for name, words in RUN.items()
        if getattr(before, name) != getattr(after, name)
    ]
    if apart:
        remedy = (
            f"Record the ladder again: python -m tools.recording speeds {after.ladder}."
            if before.ladder == after.ladder
            else "To time kernels of two ladders in turns, add one to the other's bench(also=[…])."
        )
        raise LabError(
            f"{before.kernel} and {after.kernel} were not measured in one run ({'; '.join(apart)}); "
            f"a ratio of them would not be the idea's. {remedy}"
        )
    times = [(samples or {}).get(row) for row in (before, after)]
    if all(times) and len(times[0]) == len(times[1]):
        low, middle, high = np.percentile(np.divide(*map(np.asarray, times)), [25, 50, 75])
        return Gain(before, after, float(middle), float(low), float(high), True)
    return Gain(
        before,
        after,
        after.tflops / before.tflops,
        after.tflops_low / before.tflops_high,
        after.tflops_high / before.tflops_low,
        False,
    )
