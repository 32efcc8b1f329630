"""FP8: e4m3 (no infinities, one NaN, largest 448) and e5m2 (IEEE-like, largest 57344), in pairs of 16 bits.

Source of the formats: PTX ISA, "Alternate floating-point data formats", and the satfinite conversions of `cvt`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_simulator.runtime import runtime

NAN = 0x7F


@lru_cache(maxsize=2)
def decoded(kind: str) -> np.ndarray:
    """(256,) float64: the value of every code of "e4m3" or "e5m2"."""
    fraction_bits, bias = (3, 7) if kind == "e4m3" else (2, 15)
    code = np.arange(128)
    exponent, fraction = code >> fraction_bits, code & ((1 << fraction_bits) - 1)
    steps = np.where(exponent == 0, fraction, fraction + (1 << fraction_bits))
    value = np.ldexp(steps.astype(np.float64), np.maximum(exponent, 1) - bias - fraction_bits)
    if kind == "e4m3":
        value[NAN] = np.nan
    else:
        value[0x7C], value[0x7D:] = np.inf, np.nan
    return np.concatenate([value, -value])


@lru_cache(maxsize=2)
def _midpoints(kind: str) -> np.ndarray:
    """The midpoints of neighbouring finite values ≥ 0: number n is halfway between the codes n and n + 1."""
    finite = decoded(kind)[:128]
    finite = finite[np.isfinite(finite)]
    return (finite[1:] + finite[:-1]) / 2


@runtime
def to_fp8(x, kind, relu):
    """The codes of floats, uint8: rounded to nearest, ties to even; larger ones become the largest finite number."""
    wide = np.asarray(x).astype(np.float64)
    size, middle = np.abs(wide), _midpoints(kind)
    code = np.searchsorted(middle, size)  # a tie goes to the lower code …
    above = np.minimum(code, len(middle) - 1)
    code = code + ((size == middle[above]) & (code < len(middle)) & (code & 1 == 1))  # … unless that is odd
    code = np.where(np.signbit(wide), 0 if relu else code | 0x80, code)
    code = np.where(np.isnan(wide), NAN, code).astype(np.uint8)
    return code if code.ndim else code[()]


@runtime
def from_fp8(codes, kind, relu):
    """The values of codes as float16, which can represent all of them. relu: negative values become 0."""
    table = decoded(kind).astype(np.float16)
    table = np.where(np.isnan(table), np.uint16(0x7FFF), table.view(np.uint16)).view(np.float16)
    value = table[codes]
    if relu:
        value = np.where((value > 0) | np.isnan(value), value, np.float16(0))
    return value
