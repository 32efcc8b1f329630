"""Tensor memory (TMEM): where tcgen05.mma puts D, which cells tcgen05.ld and tcgen05.st move to which registers, and
which lanes tcgen05.cp writes.

Each multiprocessor has 128 lanes of 512 columns of 32 bits. An address is lane << 16 | column. A warp can access only
its quarter, lanes 32 · (warp % 4) … + 31.

Source: PTX ISA, "Tensor Memory", "Data Path Layout Organization", "Data Movement Shape", "tcgen05.cp".
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

LANES, COLUMNS, QUARTER = 128, 512, 32
ALLOCATIONS = (32, 64, 128, 256, 512)  # columns that can be allocated


class Piece(NamedTuple):
    """Columns `first` … `first + count - 1` of the rows of D that one block holds.

    lanes: the lane of each row.   In tensor memory the piece begins at the accumulator's first column.
    """

    lanes: tuple[int, ...]
    first: int
    count: int  # type: ignore[assignment]


@lru_cache
def pieces(m: int, n: int, cta_group: int = 1, ws: bool = False) -> tuple[Piece, ...]:
    """Where the rows of D lie that one block holds: all m of them, or half of them for cta_group::2.

    | M, group           | rows a block | lanes                                               | letter in the PTX ISA |
    |--------------------|--------------|-----------------------------------------------------|------|
    | 128, and 256 of 2  | 128          | row r in lane r                                     | D, A |
    | 64                 | 64           | 16 rows in the lower half of each quarter           | F    |
    | 128 of 2, 64 .ws   | 64           | half of the columns in lanes 0-63, half in 64-127   | B, E |
    | 32 .ws             | 32           | a quarter of the columns in each quarter            | G    |
    """
    rows = m // cta_group
    if rows == 128:
        return (Piece(tuple(range(128)), 0, n),)
    if rows == 64 and cta_group == 1 and not ws:
        return (Piece(tuple(QUARTER * (row // 16) + row % 16 for row in range(64)), 0, n),)
    parts = LANES // rows
    return tuple(
        Piece(tuple(range(part * rows, part * rows + rows)), part * n // parts, n // parts) for part in range(parts)
    )


SHAPES = {"32x32b": 1, "16x64b": 1, "16x128b": 2, "16x256b": 4, "16x32bx2": 1}  # registers per repetition
_MOST = {"32x32b": 128, "16x64b": 128, "16x128b": 64, "16x256b": 32, "16x32bx2": 128}


class Fragment(NamedTuple):
    """The cells that each register of each thread receives.

    lanes, columns: int arrays (registers, 32 threads), relative to the instruction's address.
    wide: number of columns that are covered.
    """

    lanes: np.ndarray
    columns: np.ndarray
    wide: int


@lru_cache
def fragment(shape: str, times: int, split: int = 0) -> Fragment:
    """The cells that tcgen05.ld and tcgen05.st move for this shape and number of repetitions.

    split: for 16x32bx2, the distance in columns between the first and the second 16 threads. Raises `KeyError` for an
    unknown shape, `ValueError` for a number of repetitions that does not exist.
    """
    each = SHAPES[shape]
    if times & (times - 1) or not 1 <= times <= _MOST[shape]:
        raise ValueError(f"{shape} is repeated 1, 2, 4 … {_MOST[shape]} times, not {times}")
    register, thread = np.ix_(range(each * times), range(32))
    if shape == "32x32b":
        lanes, columns = thread, register
    elif shape == "16x64b":
        lanes, columns = thread // 4 + thread % 2 * 8, thread // 2 % 2 + 2 * register
    elif shape == "16x128b":
        lanes, columns = thread // 4 + register % 2 * 8, thread % 4 + 4 * (register // 2)
    elif shape == "16x256b":
        lanes = thread // 4 + register // 2 % 2 * 8
        columns = register % 2 + thread % 4 * 2 + 8 * (register // 4)
    else:
        lanes, columns = thread % 16, register + split * (thread // 16)
    lanes, columns = np.broadcast_arrays(lanes, columns)
    return Fragment(lanes, columns, int(columns.max()) + 1)


# ---- tcgen05.cp and tcgen05.shift ----

# The shapes of tcgen05.cp, and which .multicast each of them takes.
MULTICASTS = {
    "128x256b": ("",),
    "128x128b": ("",),
    "4x256b": ("",),
    "64x128b": ("warpx2__02_13", "warpx2__01_23"),
    "32x128b": ("warpx4",),
}
SHIFTED_COLUMNS = 8  # tcgen05.shift moves rows of 32 bytes


class Copied(NamedTuple):
    """What tcgen05.cp writes. lanes: int array (times, rows), relative to the address.   columns: of each row."""

    lanes: np.ndarray
    columns: int

    @property
    def rows(self) -> int:
        return self.lanes.shape[1]


@lru_cache
def copied(shape: str, multicast: str = "") -> Copied:
    """The lanes that receive each row. Raises `KeyError` for an unknown shape, `ValueError` for another multicast.

    128 rows go to the lanes of the same number, and four rows to the first lane of each quarter, or the same other one.
    64x128b.warpx2 gives the quarters 0 and 2 (0 and 1) the rows 0-31, the others the rows 32-63. 32x128b.warpx4 gives
    each quarter all rows. The PTX ISA leaves the lanes of 4x256b open; they are those of CUTLASS, which also says that
    this shape is made to renew the row of each quarter that tcgen05.shift leaves behind (Copy_Traits of
    SM100_UTCCP_4dp256bit_1cta, cute/atom/copy_traits_sm100.hpp).
    """
    if multicast not in MULTICASTS[shape]:
        known = " or ".join(f".{one.replace('__', '::')}" for one in MULTICASTS[shape]) if MULTICASTS[shape][0] else ""
        raise ValueError(f".{shape} takes {known or 'no multicast'}")
    rows, bits = (int(part) for part in shape[:-1].split("x"))
    row = np.arange(rows)
    if rows == 4:
        lanes = QUARTER * row[None]
    elif multicast == "warpx2__01_23":
        lanes = row // QUARTER * 2 * QUARTER + row % QUARTER + np.array([[0], [QUARTER]])
    else:
        lanes = row + np.arange(0, LANES, rows)[:, None]
    return Copied(lanes, bits // 32)
