"""Orders in which output tiles are computed, and what each wave of blocks then reads.

A wave is the set of blocks that a GPU runs at the same time. Tiles of one wave share rows of A and columns of B. The
fewer different rows and columns they touch, the fewer bytes come from DRAM, because the other reads hit in L2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked

ORDERS = ("row", "column", "grouped")
MOST_TILES = 1 << 22  # 65,536 × 65,536 in tiles of 32 × 32


@checked
def block_order(order: str, tiles_m: int, tiles_n: int, group_m: int = 8) -> np.ndarray:
    """(block_m, block_n) of every block in launch order: an integer array of shape (tiles_m · tiles_n, 2).

    row      along a row of tiles, then the next row
    column   down a column of tiles, then the next column
    grouped  bands of `group_m` rows of tiles; within a band, column by column (the last band may have fewer rows)

    Raises `LabError` for an unknown order, a number below 1 or more than MOST_TILES tiles.
    """
    if order not in ORDERS:
        raise LabError(f"There is no block order “{order}”; there are {', '.join(ORDERS)}.")
    if min(tiles_m, tiles_n, group_m) < 1:
        raise LabError(f"{tiles_m} × {tiles_n} tiles in groups of {group_m} rows: each has to be at least 1.")
    if tiles_m * tiles_n > MOST_TILES:
        raise LabError(f"{tiles_m:,} × {tiles_n:,} tiles are too many; {MOST_TILES:,} is the limit.")
    block = np.arange(tiles_m * tiles_n)
    if order == "row":
        return np.stack(np.divmod(block, tiles_n), axis=-1)
    high = tiles_m if order == "column" else min(group_m, tiles_m)
    band, within = np.divmod(block, high * tiles_n)
    rows = np.minimum(tiles_m - band * high, high)
    return np.stack((band * high + within % rows, within // rows), axis=-1)


@dataclass(frozen=True)
class Wave:
    """What blocks `first` to `first + blocks - 1` read. rows, columns: how many of each, in tiles, they touch."""

    first: int
    blocks: int
    rows: int
    columns: int
    read_bytes: int  # bytes of A and B that all blocks of the wave read, through L2
    distinct_bytes: int  # the same without repetitions: the least that DRAM must deliver

    @property
    def hit_rate(self) -> float:
        """Share of the reads, 0 to 1, that L2 can serve if all blocks of the wave advance along K together."""
        return 1 - self.distinct_bytes / self.read_bytes


@checked
def waves(order: np.ndarray, at_once: int, block: tuple[int, int], k: int, element_bytes: int = 2) -> list[Wave]:
    """The waves of `at_once` blocks each; the last may be smaller. Raises `LabError` if `at_once` is below 1.

    order: from `block_order`.   block: (BLOCK_M, BLOCK_N).   k: the K extent in elements.
    """
    if at_once < 1:
        raise LabError(f"At least one block runs at a time, not {at_once}.")
    found, (block_m, block_n) = [], block
    for first in range(0, len(order), at_once):
        part = order[first : first + at_once]
        rows, columns = len(np.unique(part[:, 0])), len(np.unique(part[:, 1]))
        read, distinct = len(part) * (block_m + block_n), rows * block_m + columns * block_n
        moved = (count * k * element_bytes for count in (read, distinct))
        found.append(Wave(first, len(part), rows, columns, *moved))
    return found


def least_bytes(
    at_once: int, tiles_m: int, tiles_n: int, block: tuple[int, int], k: int, element_bytes: int = 2
) -> int:
    """The fewest different bytes of A and B that a wave of `at_once` tiles can touch, over all rectangles of tiles."""
    best = min(
        rows * block[0] + min(-(-at_once // rows), tiles_n) * block[1]
        for rows in range(1, tiles_m + 1)
        if rows * tiles_n >= min(at_once, tiles_m * tiles_n)
    )
    return best * k * element_bytes
