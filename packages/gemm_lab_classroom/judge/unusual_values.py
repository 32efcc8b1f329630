"""Inputs with values that small whole numbers do not cover: infinities, NaN, large numbers, fractions.

A kernel that clamps its operands, skips zeros, multiplies leftover data by zeros, or rounds alpha is right on small
whole numbers. The values here reveal such errors, and are chosen so that every bit of the exact result is known,
whatever the order of the sum: no element of A or B is zero, so an infinity stays an infinity, and alpha and beta have
only as many bits as float32 has left. `spread` then scales the values by powers of two, to both ends of the type's
range. Column k of A is multiplied by a power and row k of B by its inverse, so apart from one power of two that all
products have in common, they do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import ml_dtypes
import numpy as np

from gemm_lab.catalog import Problem
from gemm_lab.measure.inputs import Inputs, make_inputs, reference
from gpu_simulator.hardware.number_types import dtype_of

LARGE = {"f16": 128.0, "f32": 8192.0}  # by accumulator type; sums of K products with one such number stay exact
FLOAT32_BITS = 24  # bits of a float32's significand
SHARE = 0.4  # the fraction of the rows of A with an infinity, and of those with a large number; the rest has neither
# The fractions and signs of NaN. If code rounds a NaN like a number, the largest fraction becomes a zero, and the
# smallest an infinity.
NAN_SIGNS, NANS = 2, ("largest", "least", "quiet")
NAN_ROWS, NAN_COLUMNS = 16, 32  # one in so many rows of A has a NaN, and one in so many columns of B
# The exponents of the powers of two by which all results become smaller, by the type that is multiplied. With the
# first, A and B reach both ends of their type's range; with the second, many results are subnormal, and no number is
# large.
SMALLER = {"f16": (11, 22), "bf16": (8, 140), "f32": (24, 140), "e4m3": (3, 15)}
# Magnitudes of alpha or beta in `extreme_c`; that of the other one is a multiple of 1/8 from 1 to 2.
LARGE_SCALES = (1000.0, 1024.0)
EIGHTHS, SIXTEENTHS = 8, 16
# In `zeros_against_infinities`: the fraction of zeros, and one in how many rows of A and columns of B is not finite.
ZEROS, MET_BY_ZEROS = 0.3, 4
ENDS = 9  # half of all exponents are drawn from so many at either end of the possible range


def along_k(problem: Problem, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of A, (m, k), and the columns of B, (n, k): views of the arrays as they are stored."""
    return (a if problem.layout_a == "row" else a.T), (b.T if problem.layout_b == "row" else b)


def unusual_inputs(problem: Problem, m: int, n: int, k: int, seed: int) -> Inputs:
    """Inputs of the kind "integers" without zeros, with unusual values in most rows of A and in some columns of B.

    Such a row of A has one infinity, one NaN or one `LARGE` number, at a random k. One column of B has an infinity, and
    one in `NAN_COLUMNS` has a NaN. Types without infinities have only the other values. alpha and beta are fractions if
    the problem has them.
    """
    made, draw = make_inputs(problem, m, n, k, "integers", seed), np.random.default_rng([seed, 1])
    a, b = made.a, made.b
    for array in (a, b):
        array[array == 0] = 1
    rows, columns = along_k(problem, a, b)
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
    """Put one NaN into each chosen row, in place, with the fractions `NANS` and both signs in turn.

    A type without infinities has one fraction for a NaN, the largest.
    """
    info, words = ml_dtypes.finfo(rows.dtype), rows.view(f"u{rows.dtype.itemsize}")
    end, sign = 2**info.nmant, 2 ** (info.bits - 1)
    endless = sign - end  # the bits of infinity, if the type has one
    fractions = {"largest": end - 1, "least": 1, "quiet": end // 2}
    if not np.isnan(np.array([endless + 1], words.dtype).view(rows.dtype).astype(np.float32)).all():
        fractions = dict.fromkeys(fractions, end - 1)
    for number, row in enumerate(chosen):
        bits = endless + fractions[NANS[number % len(NANS)]] + sign * (number // len(NANS) % NAN_SIGNS)
        words[row, draw.integers(rows.shape[1])] = bits


def spread(inputs: Inputs, seed: int, tiny: bool = False) -> Inputs:
    """Inputs whose columns of A and rows of B are multiplied by powers of two, and C by the power of the results.

    All products and partial sums are exactly those of `inputs`, multiplied by one power of two. The values of A and B
    are between the smallest subnormal number and half of the largest number of the type that is multiplied. Most of
    them are near an end of the range that the other matrix allows. tiny: many results are subnormal, and no number is
    large.
    """
    problem, draw = inputs.problem, np.random.default_rng([seed, 2, tiny])
    smaller, info = SMALLER[problem.multiplied][tiny], ml_dtypes.finfo(dtype_of(problem.multiplied))
    least = round(np.log2(float(info.smallest_subnormal)))
    rows, columns = along_k(problem, inputs.a, inputs.b)
    most_a, most_b = (info.maxexp - 1 - _exponents(array) for array in (rows, columns))
    low, high = np.maximum(least, -smaller - most_b), np.minimum(most_a, -least - smaller)
    end = np.minimum(ENDS, high - low + 1)
    kind = draw.random(len(low))
    by = np.where(kind < 0.25, low + draw.integers(0, end), np.where(kind < 0.5, high - draw.integers(0, end), 0))
    by = np.where(kind < 0.5, by, draw.integers(low, high + 1))
    by[0], by[1:2] = low[0], high[1:2]  # with k = 1 there is one column
    made = replace(inputs, a=inputs.a.copy(), b=inputs.b.copy(), c=None if inputs.c is None else inputs.c.copy())
    rows, columns = along_k(problem, made.a, made.b)
    _scale(rows, by)
    _scale(columns, -smaller - by)
    if made.c is not None:
        _scale(made.c, np.full(made.c.shape[-1], -smaller))
    return made


def _exponents(rows: np.ndarray) -> np.ndarray:
    """For each column, the exponent of the smallest power of two that none of its finite numbers exceeds."""
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


def extreme_c(inputs: Inputs, seed: int, large: str, sign: int) -> Inputs:
    """The inputs with infinities, NaN and the largest FP16 numbers in C, and a large alpha or beta of this sign.

    Most elements of C are such that the result is near the largest number of its type, on either side of it. large:
    "alpha" or "beta". A·B, alpha and beta are multiples of 1/8 and C is one of 1/16, so the result, a multiple of
    1/128, is exact in float32 up to 2¹⁷ and rounded once to FP16, unless it overflows FP16.
    """
    draw, most = np.random.default_rng([seed, 4, large == "beta", sign > 0]), float(ml_dtypes.finfo(inputs.c.dtype).max)
    scale = float(draw.choice(LARGE_SCALES) * sign)
    other = float(draw.integers(EIGHTHS, 2 * EIGHTHS) * draw.choice([-1, 1])) / EIGHTHS
    alpha, beta = (scale, other) if large == "alpha" else (other, scale)
    with np.errstate(invalid="ignore", over="ignore"):
        products = reference(replace(inputs, alpha=alpha, beta=0.0, c=np.zeros_like(inputs.c)))
        shape = inputs.c.shape
        size = np.where(
            draw.random(shape) < 0.5, most * draw.choice([1.0, 0.99, 1.5], shape), draw.uniform(0, most, shape)
        )
        wanted = size * draw.choice([-1, 1], shape)
        c = np.where(np.isfinite(products), (wanted - products) / beta, draw.integers(-8, 9, shape))
        c = np.clip(c, -most, most)
        kind = draw.random(c.shape)
        for below, value in ((0.08, most), (0.06, -most), (0.04, np.inf), (0.03, -np.inf), (0.02, np.nan)):
            c[kind < below] = value
        finite = np.isfinite(c)
        c[finite] = np.round(c[finite] * SIXTEENTHS) / SIXTEENTHS
        c = c.astype(inputs.c.dtype)
    return replace(inputs, c=c, alpha=alpha, beta=beta)


def full_mantissas(draw: np.random.Generator, shape: tuple[int, ...] = ()) -> np.ndarray:
    """Numbers from 1/2 to 1 and their negatives, with random bits in all of their significand."""
    return draw.uniform(0.5, 1, shape) * draw.choice([-1, 1], shape)


def without_a_term(problem: Problem, m: int, n: int, k: int, seed: int, scale: str) -> Inputs:
    """Inputs with a `scale`, "alpha" or "beta", of 0; the other one, and what it multiplies, have all bits they can.

    Each element of A·B is an element of A, so every result is one product, which is rounded to float32 and then to the
    type of D. All numbers are finite, so a kernel may leave the term out or multiply it by 0.
    """
    draw, made = np.random.default_rng([seed, 7, scale == "beta"]), make_inputs(problem, m, n, k, "integers", seed)
    rows, columns = along_k(problem, made.a, made.b)
    rows[:], columns[:] = full_mantissas(draw, rows.shape), 0
    columns[np.arange(n), draw.integers(0, k, n)] = 1
    made.c[:] = full_mantissas(draw, made.c.shape)
    other = float(np.float32(full_mantissas(draw)))
    return replace(made, **{"alpha": other, "beta": other, scale: 0.0})


def scales_far_apart(problem: Problem, m: int, n: int, k: int, seed: int, large: str) -> Inputs:
    """Inputs with an alpha and a beta of which the smaller one is lost in their sum: 2048 and 3 · 2⁻¹³.

    large: "alpha" or "beta". Half of the results have the smaller term alone. All numbers are finite, C is a multiple
    of 8192 where beta is small. No result is near the middle of two FP16 numbers, so float32 is enough for the sum.
    """
    draw, made = np.random.default_rng([seed, 8, large == "beta"]), make_inputs(problem, m, n, k, "integers", seed)
    few = draw.integers(-2, 3, made.c.shape).astype(np.float64)
    if large == "alpha":
        rows, _ = along_k(problem, made.a, made.b)
        rows[: (m + 1) // 2] = 0
        return replace(made, alpha=2048.0, beta=3 * 2.0**-13, c=(8192 * few).astype(made.c.dtype))
    few[: (m + 1) // 2] = 0
    return replace(made, alpha=3 * 2.0**-13, beta=2048.0, c=few.astype(made.c.dtype))


def zeros_against_infinities(problem: Problem, m: int, n: int, k: int, seed: int, operand: str) -> Inputs:
    """Inputs of the kind "integers" in which zeros of each matrix meet infinities and NaN of the other one.

    Zero times infinity and zero times NaN are NaN, so a kernel that leaves out products with a zero is wrong here.
    Single zeros are everywhere; the matrix `operand`, "a" or "b", is also zero in all of the second half of k, where
    only the other one has infinities and NaN. In the first half both have them. Types without infinities have only NaN.
    """
    draw, made = np.random.default_rng([seed, 6, operand == "b"]), make_inputs(problem, m, n, k, "integers", seed)
    half = k // 2
    with np.errstate(invalid="ignore", over="ignore"):
        values = np.array([np.nan, np.inf, -np.inf]).astype(made.a.dtype)
        values = values[~np.isfinite(values.astype(np.float32))]
    for name, rows in zip("ab", along_k(problem, made.a, made.b), strict=True):
        rows[draw.random(rows.shape) < ZEROS] = 0
        if name == operand:
            rows[:, half:] = 0
        for number, row in enumerate(draw.permutation(len(rows))[: max(2, len(rows) // MET_BY_ZEROS)]):
            first, end = (half, k) if name != operand and number % 2 else (0, half)
            rows[row, draw.integers(first, end)] = values[draw.integers(len(values))]
    return made


def infinite_lines(problem: Problem, m: int, n: int, k: int, seed: int) -> Inputs:
    """Inputs with +Inf in all of one row of A and in all of one column of B; all other numbers are 1 or 2.

    Every element of that row and that column of D is +Inf. It becomes NaN where a leftover of an older tile of one
    matrix is multiplied by a zero that stands for the other.
    """
    draw, made = np.random.default_rng([seed, 5]), make_inputs(problem, m, n, k, "integers", seed)
    a = draw.integers(1, 3, made.a.shape).astype(np.float32).astype(made.a.dtype)
    b = np.ones_like(made.b)
    rows, columns = along_k(problem, a, b)
    rows[draw.integers(m)] = columns[draw.integers(n)] = np.inf
    return replace(made, a=a, b=b)
