"""A check with values that a run on small whole numbers never meets: infinities, NaN, large numbers, odd fractions.

A kernel that clamps its operands, leaves out zeros, multiplies leftovers by zeros, or rounds alpha is right on small
whole numbers. Here all values are chosen so that the exact result is still known to the bit, whatever the order of the
sum: no element of A or B is zero, so an infinity stays one, and alpha and beta have no more bits than float32 has left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np

from gemm_lab.catalog import Problem
from gemm_lab.lab import Kernel
from gemm_lab.lab.emulating import launch, limits
from gemm_lab.measure.inputs import Inputs, make_inputs, reference, rounded

LARGE = {"f16": 128.0, "f32": 8192.0}  # by accumulator; sums of K products stay exact beside one of these
FLOAT32_BITS = 24  # of a float32's significand
SHARE = 0.4  # of the rows of A hold an infinity, as many a large number, and the rest neither


def unusual_inputs(problem: Problem, m: int, n: int, k: int, seed: int) -> Inputs:
    """Inputs of the kind "integers" without zeros, with unusual values in most rows of A and in two columns of B.

    A row of A holds one infinity, or one NaN, or one `LARGE` number, at a k of its own; one column of B an infinity and
    one a NaN. Of types without infinities only the rest. alpha and beta are fractions where the problem has them.
    """
    made, draw = make_inputs(problem, m, n, k, "integers", seed), np.random.default_rng([seed, 1])
    a, b = made.a, made.b
    for array in (a, b):
        array[array == 0] = 1
    rows, columns = (a if problem.layout_a == "row" else a.T), (b.T if problem.layout_b == "row" else b)
    largest = min(LARGE[problem.dtype_acc], float(ml_dtypes.finfo(a.dtype).max))
    kinds, at = draw.random(m), draw.integers(0, k, m)
    with np.errstate(invalid="ignore", over="ignore"):
        endless = np.asarray(np.inf).astype(a.dtype)
        has_infinity = bool(np.isinf(endless.astype(np.float32)))
        for row, (kind, place) in enumerate(zip(kinds, at, strict=True)):
            if kind < SHARE and has_infinity:
                rows[row, place] = endless
            elif kind < 2 * SHARE:
                rows[row, place] = largest
        if m > 1:
            rows[draw.integers(m), draw.integers(k)] = np.nan
        if n > 2:
            one, other = draw.choice(n, 2, replace=False)
            columns[one, draw.integers(k)] = np.nan
            if has_infinity:
                columns[other, draw.integers(k)] = -np.inf
    if made.c is None:
        return made
    with np.errstate(invalid="ignore"):
        sums = np.abs(reference(replace(made, alpha=1.0, beta=1.0)))
    most = 2 * float(np.max(sums, where=np.isfinite(sums), initial=1.0)) + 16
    bits = max(1, FLOAT32_BITS - 1 - int(np.ceil(np.log2(most))))
    odd = [float(2 * draw.integers(1, 2 ** (bits - 1)) - 1) / 2**bits for _ in "ab"]
    return replace(made, alpha=1 + odd[0], beta=-odd[1])


def wrong_at(answer: Kernel, compiled: Any, size: Sequence[int], seed: int, sms: int | None = None) -> str:
    """A sentence if the answer, as compiled, is wrong with unusual values at (m, n, k); "" if every bit is right.

    sms: see `Kernel.grid`.
    """
    m, n, k = size
    inputs = unusual_inputs(answer.problem, m, n, k, seed)
    arrays, _ = launch(compiled, answer.grid(m, n, k, sms), inputs.arguments(), answer.spec.cluster, **limits(m, n, k))
    with np.errstate(invalid="ignore", over="ignore"):
        got = arrays[answer.problem.arrays.index("d")].astype(np.float64)
        exact = rounded(reference(inputs), answer.problem)
    wrong = ~((got == exact) | (np.isnan(got) & np.isnan(exact)))
    if not wrong.any():
        return ""
    row, column = (int(place[0]) for place in np.nonzero(wrong))
    scales = f", alpha = {inputs.alpha:g}, beta = {inputs.beta:g}" if inputs.c is not None else ""
    return (
        f"At {m} × {n} × {k}, with infinities, NaN and numbers up to {LARGE[answer.problem.dtype_acc]:g} among the "
        f"values{scales}: D[{row}, {column}] is {got[row, column]:g}; it should be {exact[row, column]:g}. "
        f"{int(wrong.sum()):,} of {wrong.size:,} elements are wrong."
    )
