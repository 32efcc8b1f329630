"""A check with values that a run on small whole numbers never meets: infinities, NaN, large numbers, odd fractions.

A kernel that clamps its operands, leaves out zeros, multiplies leftovers by zeros, or rounds alpha is right on small
whole numbers. Here all values are chosen so that the exact result is still known to the bit, whatever the order of the
sum: no element of A or B is zero, so an infinity stays one, and alpha and beta have no more bits than float32 has left.
Powers of two then carry the values to both ends of the type: what one multiplies a column of A by, its inverse
multiplies the row of B by, so all products stay what they were, but for one power of two that all of them share.
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
from gpu_runner.transport.wire import dtype_of

LARGE = {"f16": 128.0, "f32": 8192.0}  # by accumulator; sums of K products stay exact beside one of these
FLOAT32_BITS = 24  # of a float32's significand
SHARE = 0.4  # of the rows of A hold an infinity, as many a large number, and the rest neither
# Fractions and signs of NaN. Where a NaN is rounded like a number, the largest fraction makes it a zero, and the least
# an infinity.
NAN_SIGNS, NANS = 2, ("largest", "least", "quiet")
NAN_ROWS, NAN_COLUMNS = 16, 32  # at most one in so many rows of A holds a NaN, and one in so many columns of B
# Powers of two by which all results are smaller, by the type that is multiplied: (so that A and B reach both ends of
# their type, so that most results are subnormal as well). The second leaves small numbers alone.
SMALLER = {"f16": (11, 20), "bf16": (8, 140), "f32": (24, 140)}
ENDS = 9  # exponents at either end of what a type holds, where half of all are drawn


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
            _place_nans(rows, draw.permutation(m)[: max(m // NAN_ROWS, 1)], draw)
        if n > 2:
            other, *chosen = draw.permutation(n)[: 1 + max(n // NAN_COLUMNS, 1)]
            _place_nans(columns, chosen, draw)
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


def _place_nans(rows: np.ndarray, chosen: Sequence[int], draw: np.random.Generator) -> None:
    """Put one NaN into each chosen row, with the fractions `NANS` and both signs in turn; `rows` may be a view."""
    info, words = ml_dtypes.finfo(rows.dtype), rows.view(f"u{rows.dtype.itemsize}")
    end, sign = 2**info.nmant, 2 ** (info.bits - 1)
    endless = sign - end  # the bits of infinity, where the type has one
    fractions = {"largest": end - 1, "least": 1, "quiet": end // 2}
    for number, row in enumerate(chosen):
        bits = endless + fractions[NANS[number % len(NANS)]] + sign * (number // len(NANS) % NAN_SIGNS)
        words[row, draw.integers(rows.shape[1])] = bits


def spread(inputs: Inputs, seed: int, tiny: bool = False) -> Inputs:
    """Inputs whose column k of A and row k of B are multiplied by powers of two, and C by that of the results.

    All products are those of `inputs` by one power of two, exactly, and so is every partial sum. The values of A and B
    lie between the least subnormal number and half of the largest number of the type that is multiplied, and most often
    at the ends of what the other one leaves. tiny: most results are subnormal, and no number is large.
    """
    problem, draw = inputs.problem, np.random.default_rng([seed, 2, tiny])
    smaller, info = SMALLER[problem.multiplied][tiny], ml_dtypes.finfo(dtype_of(problem.multiplied))
    least = round(np.log2(float(info.smallest_subnormal)))
    rows, columns = (inputs.a if problem.layout_a == "row" else inputs.a.T), inputs.b
    columns = columns.T if problem.layout_b == "row" else columns
    most_a, most_b = (info.maxexp - 1 - _exponents(array) for array in (rows, columns))
    low, high = np.maximum(least, -smaller - most_b), np.minimum(most_a, -least - smaller)
    end = np.minimum(ENDS, high - low + 1)
    kind = draw.random(len(low))
    by = np.where(kind < 0.25, low + draw.integers(0, end), np.where(kind < 0.5, high - draw.integers(0, end), 0))
    by = np.where(kind < 0.5, by, draw.integers(low, high + 1))
    by[:2] = low[0], high[min(1, len(high) - 1)]
    made = replace(inputs, a=inputs.a.copy(), b=inputs.b.copy(), c=None if inputs.c is None else inputs.c.copy())
    _scale(made.a if problem.layout_a == "row" else made.a.T, by)
    _scale(made.b.T if problem.layout_b == "row" else made.b, -smaller - by)
    if made.c is not None:
        _scale(made.c, np.full(made.c.shape[-1], -smaller))
    return made


def _exponents(rows: np.ndarray) -> np.ndarray:
    """For each column, the least power of two that no finite number of it exceeds, as its exponent."""
    with np.errstate(invalid="ignore"):
        wide = np.abs(rows.astype(np.float64))
    largest = np.max(wide, axis=0, where=np.isfinite(wide), initial=1.0)
    return np.ceil(np.log2(largest)).astype(int)


def _scale(rows: np.ndarray, by: np.ndarray) -> None:
    """Multiply each column by its power of two, in place; infinities and NaN keep their bits."""
    with np.errstate(invalid="ignore"):
        wide = rows.astype(np.float64)
    finite = np.isfinite(wide)
    rows[finite] = np.ldexp(np.where(finite, wide, 0.0), by)[finite].astype(rows.dtype)


def _range(inputs: Inputs) -> str:
    """The finite numbers of A and B in words."""
    with np.errstate(invalid="ignore"):
        sizes = np.concatenate([np.abs(array.astype(np.float64)).ravel() for array in (inputs.a, inputs.b)])
    sizes = sizes[np.isfinite(sizes)]
    return f"and numbers from {sizes.min():.3g} (subnormal) to {sizes.max():.3g}"


def wrong_at(
    answer: Kernel, compiled: Any, size: Sequence[int], seed: int, tiny: bool = False, sms: int | None = None
) -> str:
    """A sentence if the answer, as compiled, is wrong with unusual values at (m, n, k); "" if every bit is right.

    tiny: with values of `spread` so small that results are subnormal.   sms: see `Kernel.grid`.
    """
    m, n, k = size
    inputs = spread(unusual_inputs(answer.problem, m, n, k, seed), seed, tiny)
    arrays, _ = launch(compiled, answer.grid(m, n, k, sms), inputs.arguments(), answer.spec.cluster, **limits(m, n, k))
    with np.errstate(invalid="ignore", over="ignore"):
        got = arrays[answer.problem.arrays.index("d")].astype(np.float64)
        exact = rounded(reference(inputs), answer.problem)
    wrong = ~((got == exact) | (np.isnan(got) & np.isnan(exact)))
    if not wrong.any():
        return ""
    row, column = (int(place[0]) for place in np.nonzero(wrong))
    scales = f", alpha = {inputs.alpha:g}, beta = {inputs.beta:g}" if inputs.c is not None else ""
    among = f"with infinities, NaN, {_range(inputs)} among the values{scales}"
    return (
        f"At {m} × {n} × {k}, {among}: D[{row}, {column}] is {got[row, column]:g}; it should be "
        f"{exact[row, column]:g}. {int(wrong.sum()):,} of {wrong.size:,} elements are wrong."
    )
