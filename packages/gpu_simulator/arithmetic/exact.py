"""Exact rational arithmetic for float64 results close to underflow or overflow.

Close to underflow, the rounding error of a product is not a float64 number, so error-free transformations fail; beyond
the largest number, a directed rounding can still be finite. Such results are computed one by one as fractions.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction

import numpy as np

SMALL = 2.0**-900  # far above 2^-1022 · 2^53: the error of a larger result is a float64 number


def rounded(exact: Fraction, mode: str) -> float:
    """A fraction other than 0, rounded to float64 with rounding mode rn, rz, rm or rp."""
    try:
        nearest = exact.numerator / exact.denominator
    except OverflowError:
        nearest = math.inf if exact > 0 else -math.inf
    up = mode == "rp" or (mode == "rz" and exact < 0)
    if mode == "rn":
        return nearest
    if math.isinf(nearest):
        stays = up == (nearest < 0)
        return math.copysign(sys.float_info.max, nearest) if stays else nearest
    if up and nearest < exact:
        return math.nextafter(nearest, math.inf)
    if not up and nearest > exact:
        return math.nextafter(nearest, -math.inf)
    return nearest


def repaired(value, hard, inputs, formula: Callable[..., Fraction], mode: str = "rn"):
    """Replace `value`, where `hard` is true, by `formula` of the inputs, computed exactly and rounded once.

    value, hard, inputs: arrays (or scalars) of one shape; the inputs are finite where `hard`. Where the exact result
    is zero, `value` is kept, because it has the right sign.
    """
    if not np.any(hard):
        return value
    hard = np.broadcast_to(hard, np.shape(value))
    out = np.array(value, np.float64)
    lanes = zip(*(np.broadcast_to(x, out.shape)[hard].tolist() for x in inputs), strict=True)
    exact = [formula(*map(Fraction, lane)) for lane in lanes]
    old = out[hard].tolist()
    out[hard] = [rounded(x, mode) if x else was for x, was in zip(exact, old, strict=True)]
    return out if out.ndim else out[()]


def near_the_ends(value, *inputs):
    """Boolean: where a result of finite inputs other than 0 is close to underflow or has overflowed."""
    hard = ~((np.abs(value) >= SMALL) & np.isfinite(value))
    for x in inputs:
        hard = hard & np.isfinite(x) & (x != 0)
    return hard
