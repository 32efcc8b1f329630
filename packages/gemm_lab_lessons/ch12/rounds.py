"""Output tiles distributed over multiprocessors, and the share of the computed elements that the result needs.

A tile at the edge costs as much as a whole one, and the last round costs as much as a full one. The model counts tiles
only; clocks and memory play no part.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab_lessons.ch10.tile_bounds import tail
from gpu_simulator.argument_checks import checked


@dataclass(frozen=True)
class Rounds:
    """`tiles` in `rounds` rounds over `workers`, with `last` tiles in the last round.

    useful: elements of the result ÷ elements that all rounds, if full of whole tiles, would compute.
    """

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
    """The rounds of an M × N result in tiles of `block` = (BLOCK_M, BLOCK_N); each worker computes one tile per round.

    useful = M·N ÷ (rounds · workers · BLOCK_M · BLOCK_N). Raises `SizeError` for a number below 1.
    """
    found = tail(m, n, block, workers)
    paid = found.waves * workers * block[0] * block[1]
    return Rounds(found.tiles, workers, found.waves, found.last, m * n / paid)
