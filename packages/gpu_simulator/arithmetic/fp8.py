"""FP8, FP6 and FP4, and ue8m0, the powers of two that scale blocks of them.

FP8: e4m3 (no infinities, one NaN, largest 448) and e5m2 (IEEE-like, largest 57344). FP6: e2m3 (largest 7.5) and e3m2
(largest 28). FP4: e2m1 (largest 6). FP6 and FP4 have neither infinities nor NaN.

Source of the formats: PTX ISA, "Alternate floating-point data formats", and the satfinite conversions of `cvt`; what
becomes of NaN in FP6 and FP4, and ue8m0: what NVIDIA's cuda_fp4.hpp, cuda_fp6.hpp and cuda_fp8.hpp compute on a host.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_simulator.runtime import runtime

NAN = 0x7F
_BIAS = {"e4m3": 7, "e5m2": 15, "e2m3": 1, "e3m2": 3, "e2m1": 1}


def sign_of(kind: str) -> int:
    """The sign bit of a format, such as 0x80 of "e4m3"; a code has no higher bits."""
    return 1 << (int(kind[1]) + int(kind[3]))


@lru_cache
def decoded(kind: str) -> np.ndarray:
    """float64: the value of every code of a format, such as "e4m3"; 256 of FP8, 64 of FP6, 16 of FP4."""
    fraction_bits, bias = int(kind[3]), _BIAS[kind]
    code = np.arange(sign_of(kind))
    exponent, fraction = code >> fraction_bits, code & ((1 << fraction_bits) - 1)
    steps = np.where(exponent == 0, fraction, fraction + (1 << fraction_bits))
    value = np.ldexp(steps.astype(np.float64), np.maximum(exponent, 1) - bias - fraction_bits)
    if kind == "e4m3":
        value[NAN] = np.nan
    elif kind == "e5m2":
        value[0x7C], value[0x7D:] = np.inf, np.nan
    return np.concatenate([value, -value])


@lru_cache
def _midpoints(kind: str) -> np.ndarray:
    """The midpoints of neighbouring finite values ≥ 0: number n is halfway between the codes n and n + 1."""
    finite = decoded(kind)[: sign_of(kind)]
    finite = finite[np.isfinite(finite)]
    return (finite[1:] + finite[:-1]) / 2


@runtime
def to_fp8(x, kind, relu):
    """The codes of floats, uint8: rounded to nearest, ties to even; larger ones become the largest finite number.

    A NaN becomes the code without a sign whose other bits are ones: NaN of FP8, the largest number of FP6 and FP4.
    """
    wide = np.asarray(x).astype(np.float64)
    size, middle = np.abs(wide), _midpoints(kind)
    code = np.searchsorted(middle, size)  # a tie goes to the lower code …
    above = np.minimum(code, len(middle) - 1)
    code = code + ((size == middle[above]) & (code < len(middle)) & (code & 1 == 1))  # … unless that is odd
    code = np.where(np.signbit(wide), 0 if relu else code | sign_of(kind), code)
    code = np.where(np.isnan(wide), sign_of(kind) - 1, code).astype(np.uint8)
    return code if code.ndim else code[()]


@runtime
def from_fp8(codes, kind, relu):
    """The values of codes as float16, which can represent all of them. relu: negative values become 0.

    Bits above those of the format have no influence.
    """
    table = decoded(kind).astype(np.float16)
    table = np.where(np.isnan(table), np.uint16(0x7FFF), table.view(np.uint16)).view(np.float16)
    value = table[codes & np.uint8(len(table) - 1)]
    if relu:
        value = np.where((value > 0) | np.isnan(value), value, np.float16(0))
    return value


@runtime
def to_ue8m0(bits, upwards, finite):
    """The exponents of BF16 patterns, uint8; signs are dropped. upwards: to the next power of two, else to the last.

    255 stands for NaN, and without `finite` for what is too large.
    """
    size = bits & np.uint16(0x7FFF)
    code = size >> np.uint16(7)
    if upwards:
        code = code + ((bits & np.uint16(0x7F) != 0) & (size > 0x40) & (size < 0x7F80)).astype(np.uint16)
    if finite:
        code = np.where(size <= 0x7F80, np.minimum(code, np.uint16(0xFE)), code)
    return code.astype(np.uint8)


@runtime
def from_ue8m0(codes):
    """BF16 patterns of powers of two, uint16: 2^(code - 127), and NaN for 255."""
    wide = codes.astype(np.uint16) << np.uint16(7)
    return np.where(codes == 0, np.uint16(0x40), np.where(codes == 255, np.uint16(0x7FFF), wide))
