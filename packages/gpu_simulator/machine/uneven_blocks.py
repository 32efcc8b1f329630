"""Lets the blocks of a group run unevenly, so that kernels whose blocks wait for each other are not tried in step."""

from __future__ import annotations

import numpy as np

from gpu_simulator.machine.branching import PARKED

LENGTHS = 1, 2, 4, 12, 40, 120, 400  # of a turn, in steps of the scheduler; the long ones come later


class UnevenBlocks:
    """In turns of several lengths, one block rests, or runs alone. The turns are the same in each launch.

    out: (lanes,) Boolean, the lanes that rest in this turn.   left: steps of the turn.   turns: so far.
    """

    def __init__(self, resident):
        self.resident, self.random, self.turns = resident, np.random.default_rng(1), 0
        self.out, self.left = np.zeros(resident.lanes, bool), 0

    def running(self, pc: np.ndarray) -> np.ndarray:
        """The program counters, as if the lanes that rest were parked. Nobody rests if nobody else can run."""
        if not self.left:
            block = self.random.integers(self.resident.blocks)
            self.out = (self.resident.block_of_lane == block) ^ bool(self.random.integers(2))
            self.turns += 1
            self.left = int(self.random.choice(LENGTHS[: 2 + self.turns // 8]))
        self.left -= 1
        shown = np.where(self.out & (pc < PARKED), PARKED, pc)
        if int(shown.min()) < PARKED:
            return shown
        self.all_run()
        return pc

    def all_run(self) -> None:
        """End the turn: those who were to run cannot."""
        self.left, self.out = 0, np.zeros_like(self.out)
