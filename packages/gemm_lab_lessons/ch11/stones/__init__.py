"""Three kernels for readers who are stuck in notebook 11b, each a step nearer to the rungs of the ladder.

from gemm_lab_lessons.ch11.stones import stone
stone(1)            # shows its text, folded
stone(1).text
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path

from gemm_lab.lab import Kernel, kernel
from gemm_look import theme
from gemm_look.card import card, folded

SHAPE = (192, 768, 512)  # M, N, K of the product that notebook 11b asks for
TITLES = {
    1: "Stone 1: right and slow",
    2: "Stone 2: tiles in shared memory, and mma.sync",
    3: "Stone 3: TMA, wgmma and two stages",
}
LAUNCHES = {1: "hopper/01", 2: "hopper/01", 3: "hopper/02"}  # the rung whose arguments and grid a stone borrows


@dataclass(frozen=True)
class Stone:
    """A kernel that passes the check of 11_own_kernel; a notebook shows its text folded."""

    number: int

    @property
    def text(self) -> str:
        (path,) = Path(__file__).parent.glob(f"{self.number}_*.cu")
        return path.read_text(encoding="utf-8")

    @property
    def launch(self) -> Kernel:
        """The rung that lends its launch, with the tile of the stone."""
        return kernel(LAUNCHES[self.number], BLOCK_M=64, BLOCK_N=64)

    def __repr__(self) -> str:
        return f"{TITLES[self.number]}. Its text: print(stone({self.number}).text)"

    def _repr_html_(self) -> str:
        return card(folded(TITLES[self.number], f"<pre>{escape(self.text)}</pre>"), theme.NOTE)


def stone(number: int) -> Stone:
    """Stepping stone 1, 2 or 3."""
    return Stone(number)
