"""Tiles of random and of awkward numbers, the same bits everywhere: only raw words of PCG64 are used.

Each tile draws a kind. Beside plain spreads of exponents there are tiles that cancel, that are subnormal, that
overflow, that are faint, that have few significant bits (so that sums lie midway between two FP16 numbers), that have
many zeros, and that have infinities and NaN. The accumulator is zero, as large as the products, far larger or smaller,
subnormal, anything, or the negated sum.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tools.tensor_sums.forms import BYTES, Form

# bits of the exponent and of the fraction, and where the fraction begins in the stored word
_FORMATS = {
    "f16": (5, 10, 0), "bf16": (8, 7, 0), "tf32": (8, 10, 13), "e4m3": (4, 3, 0), "e5m2": (5, 2, 0), "f32": (8, 23, 0),
}  # fmt: skip
_DTYPES = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}
PLAIN, NARROW, MIDDLE, CANCELS, SUBNORMAL, SPECIAL, ZEROS, OVERFLOWS, FAINT = range(9)
# Exponents of the powers of two in a faint tile: two for products near half of the least result or at it, and three for
# products so far below that only the limit of the window (`SumRule.floor`) decides whether they have an influence.
_FAINT = {"f16": (-12, -13, -24, -23, -22), "bf16": (-74, -75, -80, -79, -78), "tf32": (-74, -75, -80, -79, -78)}


class Raw:
    """A stream of random whole numbers."""

    def __init__(self, seed: int):
        self.bits = np.random.PCG64(seed)

    def below(self, limit: int, *shape: int) -> np.ndarray:
        """Whole numbers from 0 to limit - 1."""
        words = np.asarray(self.bits.random_raw(int(np.prod(shape)))).reshape(shape)
        return (words >> np.uint64(20)).astype(np.int64) % limit

    def one_in(self, count: int, *shape: int) -> np.ndarray:
        """Boolean, true once in `count` times."""
        return self.below(count, *shape) == 0


def tiles_of(form: Form, seed: int, tiles: int) -> dict[str, np.ndarray]:
    """a, b, c as the kernel takes them (c with the type of D), and zero: (tiles,) int32, one in eight is 1."""
    raw = Raw(seed)
    zero = raw.one_in(8, tiles).astype(np.int32)
    if form.a == "s8":
        a, b = (raw.below(256, tiles, rows, form.k).astype(np.uint8) for rows in (form.m, form.n))
        return {"a": a, "b": b, "c": raw.below(1 << 32, tiles, form.m, form.n).astype(np.uint32), "zero": zero}
    pattern, kept = raw.below(9, tiles), 1 + raw.below(12, tiles)
    near = np.zeros((tiles, form.k), bool)
    near[:, form.chosen] = raw.one_in(3, tiles, form.stored)
    a = _factors(raw, form.a, form.m, pattern, kept, near[:, form.chosen])
    b = _factors(raw, form.b, form.n, pattern, kept, near)
    b = _cancelling(raw, form, a, b, pattern)
    packed = {"a": a.astype(_WORDS[BYTES[form.a]]), "b": b.astype(_WORDS[BYTES[form.b]]), "zero": zero}
    return {**packed, "c": _accumulator(raw, form, packed, tiles)}


def _factors(raw: Raw, kind: str, rows: int, pattern, kept, near) -> np.ndarray:
    """(tiles, rows, k) codes. kept: upper bits of a fraction that may be 1, by tile.

    near: (tiles, k), in faint tiles the products that are not far below the least result.
    """
    width, bits, at = _FORMATS[kind]
    shape = (len(pattern), rows, near.shape[1])
    low, spread, kept, of = (x[:, None, None] for x in (*_exponents(raw, kind, pattern), kept, pattern))
    exponent = low + raw.below(1 << 16, *shape) % (spread + 1)
    cut = np.maximum(bits - kept, 0)
    fraction = raw.below(1 << bits, *shape) >> cut << cut
    word = _assembled(kind, raw.below(2, *shape), exponent, fraction)
    sign = width + bits + at
    word = np.where((of == ZEROS) & raw.one_in(2, *shape), raw.below(2, *shape) << sign, word)
    if kind in _FAINT:
        exponents = np.array(_FAINT[kind]) + (1 << (width - 1)) - 1
        powers = np.where(exponents > 0, exponents << bits, 1 << np.maximum(bits - 1 + exponents, 0)) << at
        which = np.where(near[:, None], raw.below(2, *shape), 2 + raw.below(3, *shape))
        word = np.where(of == FAINT, powers[which] | raw.below(2, *shape) << sign, word)
    special = (of == SPECIAL) & raw.one_in(48, *shape)
    last = ((1 << width) - 1 << bits | raw.below(4, *shape) % (3 if bits > 2 else 4)) << at
    last = np.full(shape, 0x7F) if kind == "e4m3" else last
    word = np.where(special, np.where(raw.one_in(3, *shape), 0, last | raw.below(2, *shape) << sign), word)
    if at:  # what the instruction drops
        word |= np.where(kept % 2 == 1, raw.below(1 << at, *shape), 0)
    return word


def _exponents(raw: Raw, kind: str, pattern) -> tuple[np.ndarray, np.ndarray]:
    """The least encoded exponent of each tile, and how many others there are."""
    tiles, largest = len(pattern), (1 << _FORMATS[kind][0]) - 1
    few, some, several = raw.below(3, tiles), 3 + raw.below(10, tiles), raw.below(16, tiles)
    spread = np.choose(np.minimum(pattern, 3), [np.full(tiles, largest), few, some, several])
    away = raw.below(largest // 2 + 1, tiles) - largest // 4
    low = largest // 2 - spread // 2 + np.where(raw.one_in(3, tiles), away, 0)
    low = np.where(pattern == PLAIN, 0, low)
    least = raw.below(2, tiles) * (largest // 4 + raw.below(largest // 4 + 1, tiles))
    low = np.where(pattern == SUBNORMAL, least, low)
    return np.where(pattern == OVERFLOWS, largest * 3 // 4 - spread, low), spread


def _assembled(kind: str, sign, exponent, fraction) -> np.ndarray:
    """The codes of finite numbers; larger exponents become the largest finite one."""
    width, bits, at = _FORMATS[kind]
    exponent = np.clip(exponent, 0, (1 << width) - (1 if kind == "e4m3" else 2))
    word = (sign << (width + bits) | exponent << bits | fraction) << at
    return np.where((word & 0x7F) == 0x7F, word - 1, word) if kind == "e4m3" else word


def _cancelling(raw: Raw, form: Form, a, b, pattern) -> np.ndarray:
    """B, of which each second row in some tiles is the negated row before it, or nearly; A is changed to fit."""
    pairs = (pattern == CANCELS)[:, None, None]
    a[:, :, 1::2] = np.where(pairs, a[:, :, ::2], a[:, :, 1::2])
    sign = 1 << sum(_FORMATS[form.b])
    nearly = raw.one_in(4, len(a), form.n, form.k // 2).astype(np.int64) << _FORMATS[form.b][2]
    b[:, :, 1::2] = np.where(pairs, b[:, :, ::2] ^ sign ^ nearly, b[:, :, 1::2])
    if form.b == "e4m3":
        b = np.where((b & 0x7F == 0x7F) & ~(pattern == SPECIAL)[:, None, None], b - 1, b)
    return b


def _accumulator(raw: Raw, form: Form, packed, tiles: int) -> np.ndarray:
    shape = (tiles, form.m, form.n)
    with np.errstate(invalid="ignore"):  # of NaN that signal
        left, right = (values(packed[name], kind).astype(np.float64) for name, kind in (("a", form.a), ("b", form.b)))
    right = right[:, :, form.chosen].swapaxes(1, 2)
    width, bits, _ = _FORMATS[form.out]
    dtype = np.float16 if form.out == "f16" else np.float32
    with np.errstate(all="ignore"):
        sums = np.nan_to_num(np.matmul(np.abs(left), np.abs(right)), nan=1.0, posinf=1.0)
        negated = np.nan_to_num(-np.matmul(left, right), nan=0.0).astype(dtype)
    typical = np.frexp(np.maximum(sums, 1e-300))[1] + (1 << (width - 1)) - 1
    mode = np.broadcast_to(raw.below(8, tiles)[:, None, None], shape)
    exponent = np.where(mode < 2, typical - 3 + raw.below(6, *shape), typical - 30 + raw.below(64, *shape))
    fraction = raw.below(1 << bits, *shape)
    fraction = np.where(raw.one_in(4, *shape), fraction >> (bits - 3) << (bits - 3), fraction)
    sign = raw.below(2, *shape)
    codes = negated.view(_WORDS[dtype().itemsize]).astype(np.int64)
    word = _assembled(form.out, sign, exponent, fraction)
    word = np.where(mode == 4, sign << (width + bits), word)
    word = np.where(mode == 5, codes ^ raw.one_in(8, *shape), word)
    word = np.where(mode == 6, sign << (width + bits) | fraction, word)
    anything = sign << (width + bits) | raw.below(1 << width, *shape) << bits | fraction
    return np.where(mode == 7, anything, word).astype(codes.dtype).astype(_WORDS[dtype().itemsize])


def values(codes: np.ndarray, kind: str) -> np.ndarray:
    """The numbers of codes, float32, in the same shape."""
    if kind == "tf32":
        return (codes & np.uint32(0xFFFFE000)).view(np.float32)
    with np.errstate(invalid="ignore"):  # of NaN that signal
        return codes.view(_DTYPES[kind]).astype(np.float32)
