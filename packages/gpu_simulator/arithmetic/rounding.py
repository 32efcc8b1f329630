"""Exact rounding between FP64, FP32, FP16 and BF16, in NumPy."""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.exact import repaired
from gpu_simulator.runtime import runtime

_SMALL, _LARGE = 0x38800000, 0x477FF000  # 2^-14 is the smallest normal FP16 number; from 65520 on it overflows
_TINY = {np.dtype(kind).char: np.finfo(kind).tiny for kind in (np.float16, np.float32, np.float64)}
# NumPy scalars for `fma_f32`, where making them would take longer than to use them.
_ONE, _TWO_EXPONENTS = np.uint32(1), np.uint32(0x01FFFFFF)
_BELOW_F32, _MIDWAY = np.uint64(0x1FFFFFFF), np.uint64(0x10000000)
_AT_ONCE = 1 << 16  # elements that stay in the cache between the steps


def round_to_f16(x: np.ndarray) -> np.ndarray:
    """Round float32 numbers to FP16 precision, ties to even, in place; returns the (contiguous) float32 array."""
    flat = x.reshape(-1)
    for begin in range(0, flat.size, _AT_ONCE):
        _round_part(flat[begin : begin + _AT_ONCE])
    return x


def _round_part(x: np.ndarray) -> None:
    bits = x.view(np.uint32)
    below = bits & np.uint32(0x7FFFFFFF)
    largest = int(below.max())
    below -= np.uint32(1)  # zeros wrap around to the largest value, so they do not count as small
    usual = largest < _LARGE and int(below.min()) >= _SMALL - 1
    odd = bits & np.uint32(0x1FFF)
    if usual and not odd.any():
        return
    exact = None
    if not usual:
        special = ((below < np.uint32(_SMALL - 1)) | (below >= np.uint32(_LARGE - 1))) & (
            below != np.uint32(0xFFFFFFFF)
        )
        exact = x[special].astype(np.float16).astype(np.float32)
    np.right_shift(bits, np.uint32(13), out=odd)
    odd &= np.uint32(1)
    odd += np.uint32(0xFFF)
    bits += odd
    bits &= np.uint32(0xFFFFE000)
    if exact is not None:
        x[special] = exact


_F32 = np.dtype(np.float32)
_CANONICAL = {"f": np.uint32(0x7FFFFFFF).view(np.float32), "e": np.uint16(0x7FFF).view(np.float16)}


@runtime
def canonical(x):
    """Results of float32 or float16 arithmetic with the NaN that NVIDIA GPUs write: 0x7FFFFFFF, or 0x7FFF.

    PTX leaves these NaNs open ("unspecified"), and lets float64 keep its payloads, so float64 is returned as it is.
    Recorded on an H200 (results/profiles/h200/opcodes.npz).
    """
    if x.dtype is _F32 or x.dtype == _F32:
        flat = x if x.ndim == 1 else x.reshape(-1)
        square = flat.dot(flat)  # the cheapest way to see a NaN: a sum of squares is one only if a number is
        if square == square:
            return x
    elif x.dtype.char != "e" or ((x.view(np.uint16) & np.uint16(0x7FFF)) <= np.uint16(0x7C00)).all():
        return x
    out = np.where(np.isnan(x), _CANONICAL[x.dtype.char], x)
    return out if out.ndim else out[()]


@runtime
def bf16_to_f32(bits):
    """The values of BF16 patterns, as float32."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


@runtime
def f32_to_bf16(x, mode: str = "rn"):
    """BF16 patterns of float32, rounded to nearest even (rn), to zero (rz), down (rm) or up (rp). NaN gives 0x7FFF."""
    x = np.asarray(x)
    bits = x.view(np.uint32)
    if mode == "rn":
        out = (bits + (np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1)))) >> np.uint32(16)
    elif mode == "rz":
        out = bits >> np.uint32(16)
    else:
        away = (x < 0) if mode == "rm" else (x > 0)
        out = (bits + np.where(away, np.uint32(0xFFFF), np.uint32(0))) >> np.uint32(16)
    out = out.astype(np.uint16)
    bad = np.isnan(x)
    out = np.where(bad, np.uint16(0x7FFF), out) if bad.any() else out
    return out if out.ndim else out[()]


def sum_to_odd(p, c):
    """p + c in float64, rounded to odd, so that another rounding to fewer than 52 bits gives the correct result."""
    total, error = two_sum(p, c)
    bits = np.asarray(total).view(np.int64)
    inexact = (error != 0) & np.isfinite(total) & ((bits & 1) == 0)
    towards_zero = (error < 0) != (total < 0)
    fixed = np.where(inexact, bits + np.where(towards_zero, -1, 1), bits).view(np.float64)
    return fixed if fixed.ndim else fixed[()]


def to_f32_odd(x):
    """float64 to float32, rounded to odd, for numbers that will be rounded to a narrower type afterwards."""
    r = np.asarray(x).astype(np.float32)
    r = np.where(np.isinf(r) & np.isfinite(x), np.copysign(np.finfo(np.float32).max, r), r)
    back = r.astype(np.float64)
    bits = r.view(np.uint32)
    inexact = (back != x) & np.isfinite(r)
    bits = np.where(inexact & (np.abs(back) > np.abs(x)), bits - np.uint32(1), bits)
    out = np.where(inexact, bits | np.uint32(1), bits).view(np.float32)
    return out if out.ndim else out[()]


@runtime
def f64_to_bf16(x, mode: str = "rn", keep_nan: bool = False):
    """BF16 patterns of float64 numbers, rounded once. keep_nan: a NaN keeps its upper bits and is not 0x7FFF."""
    narrow = to_f32_odd(x)
    out = f32_to_bf16(narrow, mode)
    if keep_nan and np.isnan(x).any():
        out = np.where(np.isnan(x), (narrow.view(np.uint32) >> np.uint32(16)).astype(np.uint16), out)
        return out if out.ndim else out[()]
    return out


def with_mode(x64, dtype, mode: str):
    """float64 (exact, or rounded to odd) to float32 or float16 with rounding mode rn, rz, rm or rp."""
    x64 = np.asarray(x64, np.float64)
    r = x64.astype(dtype)
    if mode != "rn":
        back = r.astype(np.float64)
        if mode == "rz":
            wrong = np.abs(back) > np.abs(x64)
            toward = dtype(0)
        else:
            wrong = back > x64 if mode == "rm" else back < x64
            toward = dtype(-np.inf if mode == "rm" else np.inf)
        r = np.where(wrong, np.nextafter(r, toward), r)
    return r if r.ndim else r[()]


@runtime
def fma_f32(a, b, c, mode="rn"):
    """a · b + c rounded once to float32."""
    p = a.astype(np.float64) * b.astype(np.float64)
    total = p + c
    if mode != "rn":
        out = np.asarray(with_mode(sum_to_odd(p, c.astype(np.float64)), np.float32, mode))
        if mode == "rm":  # rounded down, a sum of opposite numbers is -0
            out = np.where((total == 0) & (np.signbit(p) | np.signbit(c)), np.float32(-0.0), out)
        return out if out.ndim else out[()]
    # Rounding twice can only go wrong where the float64 sum lies midway between two float32 values.
    out = total.astype(np.float32)
    midway = (total.view(np.uint64) & _BELOW_F32) == _MIDWAY
    tiny = (out.view(np.uint32) << _ONE) - _ONE < _TWO_EXPONENTS
    if midway.any() or tiny.any():
        return with_mode(sum_to_odd(p, c.astype(np.float64)), np.float32, "rn")
    return out


@runtime
def fma_f64(a, b, c, mode="rn"):
    """a · b + c in float64, rounded once, with Dekker's exact product of the fractions."""
    plain = np.asarray(a * b + c)
    (x, ex), (y, ey) = np.frexp(a), np.frexp(b)
    scale = ex + ey
    z = np.ldexp(c, -scale)
    p = x * y
    split = np.float64(134217729.0)
    xh, yh = split * x - (split * x - x), split * y - (split * y - y)
    xl, yl = x - xh, y - yh
    low = ((xh * yh - p) + xh * yl + xl * yh) + xl * yl
    total, error = two_sum(p, z)
    scaled = total + sum_to_odd(error, low)
    fused = np.ldexp(scaled, scale)
    # Beside an addend this large the product only matters for the rounding, which `plain` has right.
    kept = np.ldexp(z, scale) == c
    good = np.isfinite(plain) & np.isfinite(z) & (np.abs(z) < 1e200) & kept
    out = np.where(good & (scaled != 0), fused, plain)  # `plain` has the sign of a zero
    hard = ~np.isfinite(plain) | ((scaled != 0) & (np.abs(fused) < 2.0**-960)) | ~kept
    if mode != "rn":
        # The exact value is scaled + (total - scaled) + error + low; only the sign of what follows `scaled` counts.
        high, rest = two_sum(error, low)
        first, second = two_sum(total - scaled, high)
        out = directed_f64(out, np.where(good, first + sum_to_odd(second, rest), 0.0), mode)
        hard = hard | ~good
        if mode == "rm":  # rounded down, a sum of opposite numbers is -0
            opposite = (scaled == 0) & good & (np.signbit(a) ^ np.signbit(b) | np.signbit(c))
            out = np.where(opposite, -0.0, out)
    if np.any(hard):
        finite = np.isfinite(a) & np.isfinite(b)
        out = np.where(finite & np.isinf(c), c, out)
        out = repaired(out, hard & finite & np.isfinite(c), (a, b, c), lambda x, y, w: x * y + w, mode)
    return out if np.ndim(out) else out[()]


def two_sum(a, b):
    """(a + b rounded, the rounding error); together they are the exact sum."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def directed_f64(value, error, mode):
    """Correct a float64 `value` that was rounded to nearest for a directed mode. error: exact result minus value."""
    down = (error < 0) if mode == "rm" else (error < 0) & (value > 0) if mode == "rz" else np.zeros_like(error, bool)
    up = (error > 0) if mode == "rp" else (error > 0) & (value < 0) if mode == "rz" else np.zeros_like(error, bool)
    out = np.where(down, np.nextafter(value, -np.inf), np.where(up, np.nextafter(value, np.inf), value))
    return out if out.ndim else out[()]


@runtime
def fma_half(a, b, c):
    """a · b + c in float64, rounded to odd, for narrow inputs whose product is exact."""
    return sum_to_odd(a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64))


@runtime
def flush(x):
    """Subnormal values become zeros of the same sign."""
    small = np.abs(x) < _TINY[x.dtype.char]
    if not small.any():
        return x
    out = np.where(small, np.copysign(x.dtype.type(0), x), x)
    return out if out.ndim else out[()]
