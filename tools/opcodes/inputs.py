"""The input values of the cases: first the edge cases of a type, then random numbers from a fixed seed."""

from __future__ import annotations

import zlib

import numpy as np

BITS = {f"{sign}{width}": width for sign in "bus" for width in (8, 16, 32, 64)}
BITS |= dict.fromkeys(("u16x2", "s16x2", "s8x4", "u8x4"), 32)
_NUMBERS = (
    0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 255.5, -128.5, 32767.5,
    65504.0, 65519.0, 65520.0, 3.0e-8, -6.0e-5, 2147483648.0, 4294967296.0, -2147483648.0, 9.223372036854775e18,
    1.8446744073709552e19, 1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-8, 1 + 3 * 2.0**-8,
)  # fmt: skip
# The NumPy type that computes the values of a PTX type; bf16 and tf32 are then cut.
_DTYPES = {"f16": np.float16, "f32": np.float32, "bf16": np.float32, "tf32": np.float32, "f64": np.float64}


def integers(bits: int) -> np.ndarray:
    """Edge cases of integers with `bits` bits, as unsigned 64-bit numbers below 2**bits."""
    top = 1 << (bits - 1)
    edges = [0, 1, 2 * top - 1, top - 1, top, top + 1, 2 * top - 2, 2, 3, 7, 31, 32, 33, 100, 0x7F, 0x80, 0xFF]
    edges += [
        0xFF80, 0x7FFF, 0x8000, 0xFFFF, 0xFFFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x5555555555555555,
        0xAAAAAAAAAAAAAAAA, 0xFFFFFFFF80000000, 0xFFFFFFFFFFFF8000, 0xFFFFFFFFFFFFFF80,
    ]  # fmt: skip
    kept = dict.fromkeys(edge % (2 * top) for edge in edges)
    return np.array(list(kept), np.uint64)


def _random_integers(bits: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random integers: every number of significant bits is equally likely, and half of them are negative."""
    full = rng.integers(0, 1 << 64, count, np.uint64)
    cut = rng.integers(0, bits, count).astype(np.uint64)
    out = (full >> np.uint64(64 - bits)) >> cut
    out = np.where(rng.random(count) < 0.5, ~out, out)
    return out & np.uint64((1 << bits) - 1)


def floats(dtype) -> np.ndarray:
    """Edge cases of a floating-point type, as unsigned integers with the same bits."""
    info = np.finfo(dtype)
    tiny, least = info.tiny, info.smallest_subnormal
    with np.errstate(all="ignore"):
        own = [s * x for x in (info.max, tiny, least, tiny - least) for s in (1, -1)]
        own += [1 + info.eps, 1 - info.epsneg]
        numbers = np.array([*_NUMBERS, *own]).astype(dtype)
    return numbers.view(f"u{np.dtype(dtype).itemsize}")


def _random_floats(dtype, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random floating-point numbers as bits: two thirds are of the order of 1, the others have random bits."""
    near = (rng.standard_normal(count) * 4.0 ** rng.integers(-3, 4, count)).astype(dtype)
    size = np.dtype(dtype).itemsize
    anything = (
        rng.integers(0, 1 << 63, count, np.uint64).astype(f"u{size}")
        if size < 8
        else rng.integers(0, 1 << 64, count, np.uint64, endpoint=False)
    )
    return np.where(rng.random(count) < 2 / 3, near.view(f"u{size}"), anything)


def _chosen(name: str, kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """`count` words of a named set of values, for operands that are restricted."""
    lane = np.arange(count)
    if name == "amount":
        edges = np.array([0, 1, 7, 8, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 255], np.uint64)
        return np.roll(np.concatenate([edges, rng.integers(0, 40, count, np.uint64)])[:count], 5)
    if name == "any":
        return np.where(
            lane % 8 == 7, rng.integers(0, 1 << 32, count, np.uint64), rng.integers(0, 80, count, np.uint64)
        )
    if name == "nonzero":
        raw = np.concatenate([integers(BITS[kind]), _random_integers(BITS[kind], 40, rng)])
        raw = np.roll(np.resize(raw, count), 11)
        return np.where(raw == 0, np.uint64(5), raw)
    if name == "divisor":  # neither 0 nor -1: the smallest number divided by -1 overflows
        raw = _chosen("nonzero", kind, count, rng)
        return np.where(raw == np.uint64((1 << BITS[kind]) - 1), np.uint64(3), raw)
    if name == "few":
        return rng.integers(0, 4, count, np.uint64) * np.uint64(0x100000001 % (1 << BITS[kind]))
    if name == "same":
        return np.where(lane // 32 % 2 == 0, np.uint64(9), (lane // 5).astype(np.uint64))
    if name == "votes":  # warps in which all, no, some lanes or one lane votes
        kinds = [1 + 0 * lane, 0 * lane, rng.integers(0, 2, count), lane % 32 == 13]
        return np.choose(lane // 32 % 4, kinds).astype(np.uint64)
    if name == "size":
        return (lane % 17).astype(np.uint64)
    if name == "lane":
        return rng.integers(0, 40, count, np.uint64)
    if name == "selector":
        edges = np.array([0x3210, 0x7654, 0x0123, 0xFEDC, 0x89AB, 0xB3A2, 0, 1, 2, 3], np.uint64)
        return np.concatenate([edges, rng.integers(0, 1 << 16, count, np.uint64)])[:count]
    if name == "pairs":  # every byte value once, two in each word
        return (2 * lane % 256 + ((2 * lane + 1) % 256 << 8)).astype(np.uint64)
    if name == "bytes":
        return rng.integers(0, 1 << 32, count, np.uint64)
    dtype = _DTYPES[kind.removesuffix("x2")]
    if name == "angle":
        edges = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-30, 0.5, 3.1415927, -3.1415927, 6.28, 1.5707964]
        numbers = np.concatenate([edges, rng.uniform(-6.28, 6.28, count)])[:count]
    elif name == "moderate":
        numbers = rng.choice([0.0, -0.0, np.inf, 1.0, -2.0, 3.0], count)
        numbers = np.where(lane % 4 == 0, numbers, rng.standard_normal(count) * 8.0 ** rng.integers(-5, 6, count))
    elif name == "whole":
        numbers = rng.integers(-4, 5, 2 * count).astype(np.float64)
    elif name == "normal":
        numbers = rng.standard_normal(2 * count)
    else:
        raise KeyError(name)
    return _packed(kind, numbers.astype(dtype), count)


def _packed(kind: str, numbers: np.ndarray, count: int) -> np.ndarray:
    if kind.startswith("bf16"):
        bits = (numbers.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    else:
        bits = numbers.view(f"u{numbers.itemsize}")
    if kind.endswith("x2"):
        return bits[: 2 * count].view(np.uint32)
    if kind == "tf32":
        bits = bits & np.uint32(0xFFFFE000)
    return bits[:count]


def values(kind: str, position: int, operands: int, count: int) -> np.ndarray:
    """`count` words for operand number `position` of `operands`; the same arguments give the same words.

    kind: a PTX type, or one with the name of a set ("s32:nonzero"). With two operands or more, edge cases meet edge
    cases in the first half of the words.
    """
    kind, _, name = kind.partition(":")
    rng = np.random.default_rng(zlib.crc32(f"{kind}:{name}:{position}".encode()))
    if name:
        return _chosen(name, kind, count, rng)
    if kind == "pred":
        return rng.integers(0, 2, count, np.uint64)
    if kind.endswith("x2") and "f" in kind:
        single = kind[:-2]
        halves = np.stack([values(single, position + 2 * n, operands, count).astype(np.uint16) for n in range(2)], 1)
        return np.ascontiguousarray(halves).view(np.uint32)[:, 0]
    if kind in BITS:
        edges, random = integers(BITS[kind]), _random_integers(BITS[kind], count, rng)
    elif kind == "bf16":
        wide = np.concatenate([floats(np.float32), np.array([0x7F7FFFFF, 0x0000FFFF, 0x80010000], np.uint32)])
        edges = np.unique(wide >> np.uint32(16)).astype(np.uint16)
        random = (_random_floats(np.float32, count, rng) >> np.uint32(16)).astype(np.uint16)
    else:
        edges, random = floats(_DTYPES[kind]), _random_floats(_DTYPES[kind], count, rng)
    if operands == 1:
        return np.concatenate([edges, random])[:count]
    paired = rng.permutation(np.resize(edges, count // 2))
    if "f" in kind:  # the smallest numbers are combined with each other and with zeros
        sign = edges.dtype.type(1 << (8 * edges.itemsize - 1))
        small = edges[np.argsort(edges & ~sign, kind="stable")][:8]
        paired[-16:] = np.resize(np.roll(small, 3 * position), 16)
    return np.concatenate([paired, random])[:count]
