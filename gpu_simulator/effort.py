"""How much work a launch may make: counted, so that a machine that is slow, busy or suspended gives the same verdict.

Two counts bound a launch. *Warp instructions* grow with the data that a kernel moves and multiplies. *Steps* grow with
the time that the emulator takes: one step is one instruction, carried out at once for all lanes that stand there. So a
kernel in which a single lane spins executes few warp instructions and many steps. An instruction that is a long piece
of work on its own (a copy of a whole tile, a product on the tensor cores) counts as more than one step.
"""

from __future__ import annotations

import time
from typing import Any

from gpu_simulator.faults import BudgetExceeded

# Steps of the scheduler for each block of code, and for one that only some of the lanes execute.
TURN, APART = 1.0, 8.0
# Steps of an instruction for each warp that executes it, beside the one that every instruction counts. By the beginning
# of its opcode; measured as time, relative to an ordinary instruction of few lanes. The first match counts.
LONG = {
    "tcgen05.mma": 40.0,
    "tcgen05": 4.0,
    "wgmma.mma_async": 4.0,
    "wmma": 0.1,
    "mma": 0.1,
    "mbarrier": 1.0,
    "cp.async.bulk": 20.0,
    "cp.reduce": 20.0,
    "clusterlaunchcontrol": 4.0,
    "atom": 10.0,
    "red": 10.0,
    "call": 10.0,
    "enter": 4.0,
    "leave": 4.0,
}


class Effort:
    """What a launch has done, and what it may do. A limit that is None does not end it.

    scale: how many times as many steps are allowed, because memory let fewer blocks be resident together.
    """

    def __init__(self, instructions: int | None = None, steps: float | None = None, seconds: float | None = None):
        self.most_instructions, self.most_steps, self.seconds = instructions, steps, seconds
        self.scale, self.end = 1.0, None
        self.instructions, self.steps = 0, 0.0
        self._prices: dict[int, tuple[int, float, float]] = {}

    def begin(self, scale: float) -> None:
        """From now on the time of the launch is counted."""
        self.scale = scale
        self.end = None if self.seconds is None else time.thread_time() + self.seconds

    def unspent(self) -> Effort:
        """The same limits for a launch that has done nothing yet."""
        return Effort(self.most_instructions, self.most_steps, self.seconds)

    def count(self, launch: Any, index: int, lanes: Any) -> None:
        """Count one execution of a block of code. `BudgetExceeded` where a limit is passed."""
        price = self._prices.get(index)
        if price is None:
            price = self._prices[index] = _price(launch.program.blocks[index])
        instructions, fixed, each = price
        self.instructions += instructions * lanes.warps
        self.steps += fixed + each * lanes.warps if lanes.full else fixed + APART + each * lanes.warps
        if self.most_instructions is not None and self.instructions > self.most_instructions:
            self._end(launch, index, f"more than {self.most_instructions:,} warp instructions")
        if self.most_steps is not None and self.steps > self.most_steps * self.scale:
            self._end(launch, index, f"more than {self.most_steps:,.0f} steps of the emulator")
        if self.end is not None and time.thread_time() > self.end:
            self._end(launch, index, "longer than its time")

    def _end(self, launch: Any, index: int, limit: str) -> None:
        block = launch.program.blocks[index]
        item = block.terminator or (block.code[-1] if block.code else None)
        raise BudgetExceeded(f"The kernel executed {limit}; it spins at {launch.describe(item)}.")


def _price(block: Any) -> tuple[int, float, float]:
    """(instructions, steps, steps for each warp) of one execution of a block of code."""
    code = block.code if block.terminator is None else [*block.code, block.terminator]
    return len(code), TURN + len(code), sum(_long(item.opcode) for item in code)


def _long(opcode: str) -> float:
    return next((steps for beginning, steps in LONG.items() if opcode.startswith(beginning)), 0.0)
