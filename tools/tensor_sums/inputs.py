"""Tiles of random and of awkward numbers. The same seed gives the same bits everywhere: only raw words of PCG64 are used.

Each tile draws a kind at random. Beside plain spreads of exponents there are tiles that cancel, that are subnormal, that
overflow, that have few significant bits (so that sums lie midway between two FP16 numbers), zeros, infinities and NaN;
and an accumulator that is zero, as large as the products, far larger or smaller, subnormal, anything, or their negation.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.fragment_products import float_elements
from tools.tensor_sums.forms import BYTES, Form

# bits of the exponent and of the fraction, and where the fraction begins in the stored word
_FORMATS = {
    "f16": (5, 10, 0), "bf16": (8, 7, 0), "tf32": (8, 10, 13), "e4m3": (4, 3, 0), "e5m2": (5, 2, 0), "f32": (8, 23, 0),
}  # fmt: skip
_WORDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}
PLAIN, NARROW, MIDDLE, CANCELS, SUBNORMAL, SPECIAL, ZEROS, OVERFLOWS = range(8)


class Raw:
    """A stream of random whole numbers."""

    def __init__(self, seed: int):
        self.bits = np.random.PCG64(seed)

    def below(self, limit: int, *shape: int) -> np.ndarray:
        return (np.asarray(self.bits.random_raw(int(np.prod(shape)))).reshape(shape) >> np.uint64(20)).astype(
            np.int64
        ) % limit


def _assembled(kind: str, sign, exponent, fraction) -> np.ndarray:
    width, bits, at = _FORMATS[kind]
    exponent = np.clip(exponent, 0, (1 << width) - (1 if kind == "e4m3" else 2))
    word = (sign << (width + bits) | exponent << bits | fraction) << at
    if kind == "e4m3":
        word = np.where((word & 0x7F) == 0x7F, word - 1, word)
    return word


def _factors(raw: Raw, kind: str, tiles: int, rows: int, k: int, pattern, low, spread, kept) -> np.ndarray:
    """(tiles, rows, k) codes. low, spread: of each tile's exponents.   kept: upper bits of a fraction that may be 1."""
    width, bits, at = _FORMATS[kind]
    shape = (tiles, rows, k)
    exponent = low[:, None, None] + raw.below(1 << 16, *shape) % (spread[:, None, None] + 1)
    fraction = raw.below(1 << bits, *shape) >> np.maximum(bits - kept, 0)[:, None, None] << np.maximum(bits - kept, 0)[:, None, None]
    word = _assembled(kind, raw.below(2, *shape), exponent, fraction)
    word = np.where((pattern == ZEROS)[:, None, None] & (raw.below(2, *shape) == 0), raw.below(2, *shape) << (width + bits + at), word)
    special = (pattern == SPECIAL)[:, None, None] & (raw.below(48, *shape) == 0)
    top = ((1 << width) - 1 << bits | raw.below(4, *shape) % (3 if bits > 2 else 4)) << at
    if kind == "e4m3":
        top = np.full(shape, 0x7F)
    word = np.where(special, np.where(raw.below(3, *shape) == 0, 0, top | raw.below(2, *shape) << (width + bits + at)), word)
    if at:  # what the instruction drops
        word |= np.where((kept % 2 == 1)[:, None, None], raw.below(1 << at, *shape), 0)
    return word


def tiles_of(form: Form, seed: int, tiles: int) -> dict[str, np.ndarray]:
    """a, b, c as the kernel takes them (c with the type of D), and zero: (tiles,) int32, one in eight is 1."""
    raw = Raw(seed)
    zero = (raw.below(8, tiles) == 0).astype(np.int32)
    if form.a == "s8":
        a, b = (raw.below(256, tiles, rows, form.k).astype(np.uint8) for rows in (form.m, form.n))
        return {"a": a, "b": b, "c": raw.below(1 << 32, tiles, form.m, form.n).astype(np.uint32), "zero": zero}
    pattern, kept = raw.below(8, tiles), 1 + raw.below(12, tiles)
    operands = []
    for kind, rows, k in ((form.a, form.m, form.stored), (form.b, form.n, form.k)):
        largest = (1 << _FORMATS[kind][0]) - 1
        spread = np.choose(np.minimum(pattern, 3), [np.full(tiles, largest), raw.below(3, tiles), 3 + raw.below(10, tiles), raw.below(16, tiles)])
        middle = largest // 2 - spread // 2 + (raw.below(largest // 2 + 1, tiles) - largest // 4) * (raw.below(3, tiles) == 0)
        low = np.where(pattern == PLAIN, 0, middle)
        low = np.where(pattern == SUBNORMAL, raw.below(2, tiles) * (largest // 4 + raw.below(largest // 4 + 1, tiles)), low)
        low = np.where(pattern == OVERFLOWS, largest * 3 // 4 - spread, low)
        operands.append(_factors(raw, kind, tiles, rows, k, pattern, low, spread, kept))
    a, b = operands
    pairs = (pattern == CANCELS)[:, None, None]
    a[:, :, 1::2] = np.where(pairs, a[:, :, ::2], a[:, :, 1::2])
    sign = 1 << (_FORMATS[form.b][0] + sum(_FORMATS[form.b][1:]))
    nearly = (raw.below(4, tiles, form.n, form.k // 2) == 0).astype(np.int64) << _FORMATS[form.b][2]
    b[:, :, 1::2] = np.where(pairs, b[:, :, ::2] ^ sign ^ nearly, b[:, :, 1::2])
    if form.b == "e4m3":
        b = np.where((b & 0x7F == 0x7F) & ~(pattern == SPECIAL)[:, None, None], b - 1, b)
    packed = {"a": a.astype(_WORDS[BYTES[form.a]]), "b": b.astype(_WORDS[BYTES[form.b]]), "zero": zero}
    return {**packed, "c": _accumulator(raw, form, packed, tiles)}


def _accumulator(raw: Raw, form: Form, packed, tiles: int) -> np.ndarray:
    shape = (tiles, form.m, form.n)
    left, right = (values(packed[name], kind).astype(np.float64) for name, kind in (("a", form.a), ("b", form.b)))
    right = right[:, :, form.chosen]
    with np.errstate(all="ignore"):
        sums = np.matmul(np.abs(left), np.abs(right).swapaxes(1, 2))
        near = -np.matmul(left, right.swapaxes(1, 2))
    sums = np.nan_to_num(sums, nan=1.0, posinf=1.0)
    wide, bits, _ = _FORMATS[form.out]
    bias = (1 << (wide - 1)) - 1
    typical = np.frexp(np.maximum(sums, 1e-300))[1] + bias
    mode = np.broadcast_to(raw.below(8, tiles)[:, None, None], shape)
    exponent = np.where(mode < 2, typical - 3 + raw.below(6, *shape), typical - 30 + raw.below(64, *shape))
    fraction = raw.below(1 << bits, *shape)
    fraction = np.where(raw.below(4, *shape) == 0, fraction >> (bits - 3) << (bits - 3), fraction)
    sign = raw.below(2, *shape)
    kind = np.float16 if form.out == "f16" else np.float32
    with np.errstate(all="ignore"):
        negated = np.nan_to_num(near, nan=0.0).astype(kind).view(_WORDS[np.dtype(kind).itemsize]).astype(np.int64)
    word = _assembled(form.out, sign, exponent, fraction)
    word = np.where(mode == 4, sign << (wide + bits), word)
    word = np.where(mode == 5, negated ^ (raw.below(8, *shape) == 0), word)
    word = np.where(mode == 6, _assembled(form.out, sign, 0 * sign, fraction), word)
    anything = sign << (wide + bits) | raw.below(1 << wide, *shape) << bits | fraction
    word = np.where(mode == 7, anything, word)
    return word.astype(_WORDS[np.dtype(kind).itemsize])


def values(codes: np.ndarray, kind: str) -> np.ndarray:
    """The numbers of codes, float32, in the same shape."""
    packed = np.ascontiguousarray(codes)
    words = packed.view(np.uint32)
    return np.ascontiguousarray(float_elements(words, kind)).reshape(codes.shape).astype(np.float32, copy=False)
