"""In which order output tiles are computed, and what a wave of blocks then reads.

A GPU runs as many blocks at once as it has room for (a wave). The tiles of a wave share rows of A and columns of B: the
fewer different ones they touch, the fewer bytes have to come from DRAM, because the rest is found in L2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import LabError

ORDERS = ("row", "column", "grouped")
MOST_TILES = 1 << 22  # 65,536 × 65,536 in tiles of 32 × 32


@checked
def block_order(order: str, tiles_m: int, tiles_n: int, group_m: int = 8) -> np.ndarray:
    """(block_m, block_n) of every block in launch order: shape (tiles_m · tiles_n, 2).

    row      along a row of tiles, then the next row
    column   down a column of tiles, then the next column
    grouped  bands of `group_m` rows of tiles; within a band down each short column (the last band may be lower)
    """
    if order not in ORDERS:
        raise LabError(f"There is no block order “{order}”; there are {', '.join(ORDERS)}.")
    if min(tiles_m, tiles_n, group_m) < 1:
        raise LabError(f"{tiles_m} × {tiles_n} tiles in groups of {group_m} rows: each has to be at least 1.")
    if tiles_m * tiles_n > MOST_TILES:
        raise LabError(f"{tiles_m:,} × {tiles_n:,} tiles are more than are ordered here; {MOST_TILES:,} is the limit.")
    block = np.arange(tiles_m * tiles_n)
    if order == "row":
        return np.stack(np.divmod(block, tiles_n), axis=-1)
    high = tiles_m if order == "column" else min(group_m, tiles_m)
    band, within = np.divmod(block, high * tiles_n)
    rows = np.minimum(tiles_m - band * high, high)
    return np.stack((band * high + within % rows, within // rows), axis=-1)


@dataclass(frozen=True)
class Wave:
    """Blocks `first` to `first + blocks - 1`. `rows` and `columns` of tiles that they touch; bytes of A and B."""

    first: int
    blocks: int
    rows: int
    columns: int
    read_bytes: int  # by all blocks of the wave, through L2
    distinct_bytes: int  # of them different: what DRAM has to deliver at least

    @property
    def hit_rate(self) -> float:
        """The share of reads that L2 can serve, if blocks of a wave walk along K together."""
        return 1 - self.distinct_bytes / self.read_bytes


@checked
def waves(order: np.ndarray, at_once: int, block: tuple[int, int], k: int, element_bytes: int = 2) -> list[Wave]:
    """What each wave of `at_once` blocks reads. order: from `block_order`.   block: BLOCK_M, BLOCK_N.   k: elements."""
    if at_once < 1:
        raise LabError(f"At least one block runs at a time, not {at_once}.")
    found, (block_m, block_n) = [], block
    for first in range(0, len(order), at_once):
        part = order[first : first + at_once]
        rows, columns = len(np.unique(part[:, 0])), len(np.unique(part[:, 1]))
        found.append(
            Wave(
                first,
                len(part),
                rows,
                columns,
                read_bytes=len(part) * (block_m + block_n) * k * element_bytes,
                distinct_bytes=(rows * block_m + columns * block_n) * k * element_bytes,
            )
        )
    return found


def least_bytes(
    at_once: int, tiles_m: int, tiles_n: int, block: tuple[int, int], k: int, element_bytes: int = 2
) -> int:
    """The fewest different bytes that a wave of `at_once` tiles can touch: the best rectangle that holds them."""
    best = min(
        rows * block[0] + min(-(-at_once // rows), tiles_n) * block[1]
        for rows in range(1, tiles_m + 1)
        if rows * tiles_n >= min(at_once, tiles_m * tiles_n)
    )
    return best * k * element_bytes
