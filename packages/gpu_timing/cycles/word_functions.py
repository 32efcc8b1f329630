"""What generated lines call: integer instructions on arrays of 32-bit words, a row for each warp."""

from __future__ import annotations

import numpy as np

Word = np.ndarray  # of uint32


def u32(x: np.ndarray) -> Word:
    """A word, or a predicate as 0 or 1."""
    return x.astype(np.uint32)


def u64(x: np.ndarray) -> np.ndarray:
    """A word, a signed one or a predicate as uint64."""
    return x.astype(np.uint64)


def all_lanes(x: np.ndarray) -> np.ndarray:
    """Whether a predicate holds in all lanes of a warp: shape (warps, 1)."""
    return x.all(1, keepdims=True)


def any_lane(x: np.ndarray) -> np.ndarray:
    """Whether a predicate holds in a lane of a warp: shape (warps, 1)."""
    return x.any(1, keepdims=True)


def mask_of(x: np.ndarray) -> Word:
    """The lanes of a warp in which a predicate holds, a bit each: shape (warps, 1)."""
    return (x.astype(np.uint64) << np.arange(32, dtype=np.uint64)).sum(1, keepdims=True).astype(np.uint32)


def highest_bit(x: Word) -> Word:
    """FLO.U32: the number of the highest bit that is set, and 0xFFFFFFFF without one."""
    return low32(np.where(x == 0, -1.0, np.floor(np.log2(np.maximum(x, 1).astype(np.float64)))).astype(np.int64))


def signed(x: Word) -> np.ndarray:
    """The same bits as int64, read as a signed word."""
    return x.view(np.int32).astype(np.int64)


def wide(low: Word, high: Word) -> np.ndarray:
    """A pair of registers as uint64."""
    return low.astype(np.uint64) | high.astype(np.uint64) << np.uint64(32)


def low32(x: np.ndarray) -> Word:
    """The low word of a 64-bit value."""
    return (np.asarray(x).astype(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.uint32)


def high32(x: np.ndarray) -> Word:
    """The high word of a 64-bit value."""
    return (np.asarray(x).astype(np.uint64) >> np.uint64(32)).astype(np.uint32)


def lut3(a: np.ndarray, b: np.ndarray, c: np.ndarray, table: int) -> np.ndarray:
    """LOP3: bit i of `table` is the result where a, b and c have the bits of i, a the highest."""
    result = None
    for index in range(8):
        if table >> index & 1:
            term = (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
            result = term if result is None else result | term
    return np.zeros_like(a | b | c) if result is None else result


def shift_left(x: Word, by: Word) -> Word:
    """`x << by`, and 0 for 32 and more."""
    return low32(x.astype(np.uint64) << np.minimum(by, 32).astype(np.uint64))


def shift_right(x: Word, by: Word) -> Word:
    """`x >> by` of an unsigned word, and 0 for 32 and more."""
    return low32(x.astype(np.uint64) >> np.minimum(by, 32).astype(np.uint64))


def shift_right_signed(x: Word, by: Word) -> Word:
    """`x >> by` of a signed word."""
    return low32(signed(x) >> np.minimum(by, 31).astype(np.int64))


def permute(a: Word, selector: Word, b: Word) -> Word:
    """PRMT: four bytes of b:a, chosen by the nibbles of `selector`; bit 3 of a nibble repeats the byte's sign."""
    both = wide(a, b)
    result = np.zeros(np.broadcast_shapes(a.shape, selector.shape, b.shape), np.uint64)
    for byte in range(4):
        nibble = selector.astype(np.uint64) >> np.uint64(4 * byte) & np.uint64(15)
        chosen = both >> (nibble & np.uint64(7)) * np.uint64(8) & np.uint64(255)
        sign = np.where(chosen & np.uint64(128), np.uint64(255), np.uint64(0))
        result |= np.where(nibble & np.uint64(8), sign, chosen) << np.uint64(8 * byte)
    return low32(result)


def float_above(x: np.ndarray) -> Word:
    """I2F.RP: the bits of the nearest float that is not smaller."""
    near = x.astype(np.float32)
    return np.where(near.astype(np.float64) < x, np.nextafter(near, np.float32(np.inf)), near).view(np.uint32)


def float_near(x: np.ndarray) -> Word:
    """The bits of the nearest float."""
    return x.astype(np.float32).view(np.uint32)


def reciprocal(x: Word) -> Word:
    """MUFU.RCP: the bits of 1 / x."""
    with np.errstate(divide="ignore"):
        return (np.float32(1) / x.view(np.float32)).astype(np.float32).view(np.uint32)


def truncated(x: Word) -> Word:
    """F2I.U32.TRUNC of a float's bits."""
    return low32(np.clip(np.nan_to_num(x.view(np.float32).astype(np.float64)), 0, 2**32 - 1))


def first_lane(lanes: np.ndarray) -> np.ndarray:
    """ELECT: of each warp, the lowest lane of `lanes`."""
    return lanes & (np.cumsum(lanes, axis=1) == 1)


def of_first_lane(x: Word, lanes: np.ndarray) -> Word:
    """The word of each warp's lowest lane in `lanes`: shape (warps, 1)."""
    full = np.broadcast_to(x, lanes.shape)
    return np.take_along_axis(full, np.argmax(lanes, axis=1)[:, None], 1)


def shuffle(x: Word, by: Word, mode: str, like: np.ndarray) -> Word:
    """SHFL without a segment: BFLY, IDX, UP, DOWN."""
    lane = np.arange(32)
    step = np.broadcast_to(by, like.shape).astype(np.int64)
    source = {"BFLY": lane ^ step, "IDX": step, "UP": lane - step, "DOWN": lane + step}[mode]
    source = np.where((source < 0) | (source > 31), lane, source)
    return np.take_along_axis(np.broadcast_to(x, like.shape), source, 1)
