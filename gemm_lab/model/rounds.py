"""Tiles dealt to multiprocessors: how much of the work that is paid for ends up in the result.

A tile at the edge costs as much as a whole one, and the last round costs as much as a full one. Both are counts of the
grid alone: no clock, no memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab.model.tile_bounds import tail
from gpu_simulator.argument_checks import checked


@dataclass(frozen=True)
class Rounds:
    """`tiles` over `workers`: `rounds` of them, `last` tiles in the last; `useful`, the share that is not wasted."""

    tiles: int
    workers: int
    rounds: int
    last: int
    useful: float

    def __str__(self) -> str:
        return (
            f"{self.tiles:,} tiles over {self.workers}: {self.rounds} rounds, {self.last} tiles in the last; "
            f"useful {self.useful:.1%}"
        )

    __repr__ = __str__


@checked
def rounds(m: int, n: int, block: tuple[int, int], workers: int) -> Rounds:
    """An M × N result in tiles of `block` = (BLOCK_M, BLOCK_N), one tile at a time on each of `workers`.

    useful = M·N ÷ (rounds · workers · BLOCK_M · BLOCK_N). Raises `SizeError` for a number below 1.
    """
    found = tail(m, n, block, workers)
    paid = found.waves * workers * block[0] * block[1]
    return Rounds(found.tiles, workers, found.waves, found.last, m * n / paid)
