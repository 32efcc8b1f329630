"""Medians, quartiles and ratios of benchmark samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemm_results.errors import LabError


@dataclass(frozen=True)
class Rate:
    """TFLOPS of one entry: median, and the quartiles as low and high."""

    median: float
    low: float
    high: float


def rate(samples_ms: Sequence[float], flops: float) -> Rate:
    """TFLOPS from the milliseconds of single launches that do `flops` operations each.

    Raises `LabError` without samples, or for a sample that is not a positive number.
    """
    times = np.asarray(samples_ms, np.float64)
    if times.size == 0 or not np.all(np.isfinite(times)) or np.any(times <= 0):
        raise LabError("A rate needs at least one sample, and each has to be a positive number of milliseconds.")
    low, median, high = np.percentile(flops / (times * 1e9), [25, 50, 75])
    return Rate(float(median), float(low), float(high))


def times_as_fast(row: Any, base: Any) -> float:
    """How many times faster one row of results is than another row of the same run.

    This is the median of the ratios over the rounds, or the ratio of the medians if the samples were not kept.
    """
    if row.samples_ms and len(row.samples_ms) == len(base.samples_ms):
        flops, base_flops = (r.tflops / np.median(1 / np.asarray(r.samples_ms)) for r in (row, base))  # in 10⁹
        return ratio(row.samples_ms, flops, base.samples_ms, base_flops)
    return row.tflops / base.tflops


def ratio(samples_ms: Sequence[float], flops: float, base_ms: Sequence[float], base_flops: float) -> float:
    """Median over rounds of this entry's rate divided by the base's rate in the same round.

    The ratio is taken in each round, because clock and temperature change from round to round but hardly within one.
    Raises `LabError` if the numbers of samples differ or are 0.
    """
    if len(samples_ms) != len(base_ms) or not samples_ms:
        raise LabError(
            f"A ratio needs the same rounds of both entries; there are {len(samples_ms)} and {len(base_ms)}."
        )
    times, base = np.asarray(samples_ms, np.float64), np.asarray(base_ms, np.float64)
    return float(np.median((flops / times) / (base_flops / base)))
