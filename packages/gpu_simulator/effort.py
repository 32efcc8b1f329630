"""Limits the work of a launch by counts, so that the verdict is the same on a slow, busy or suspended machine.

Two counts limit a launch. *Warp instructions* grow with the data that a kernel moves and multiplies. *Steps* grow with
the time that the simulator needs: one step is one instruction, executed at once for all lanes that have reached it. So
a kernel in which a single lane spins executes few warp instructions but many steps. An instruction that takes the
simulator long (the copy of a whole tile, a product on the tensor cores) counts as more than one step.
"""

from __future__ import annotations

import time
from typing import Any

from gpu_simulator.faults import BudgetExceeded

# Steps that the scheduler needs for each basic block, and additional steps if only some of the lanes execute it.
TURN, APART = 1.0, 8.0
# Additional steps of an instruction for each warp that executes it, by the beginning of its opcode (the first match
# counts). Derived from measured times, relative to an ordinary instruction of few lanes.
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
UNUSUAL = 20  # times the steps of other blocks, beyond which a block is said to spin
# A web page has one thread and no count of its processor time.
_now = getattr(time, "thread_time", time.monotonic)


class Effort:
    """What a launch has done so far, and its limits; a limit that is None does not apply.

    seconds: of processor time of this thread; of the clock in a web page.
    scale: factor on the limit of steps, above 1 if the memory limit makes fewer blocks resident together.
    """

    def __init__(self, instructions: int | None = None, steps: float | None = None, seconds: float | None = None):
        self.most_instructions, self.most_steps, self.seconds = instructions, steps, seconds
        self.scale = 1.0
        self.end: float | None = None
        self.instructions, self.steps = 0, 0.0
        self._prices: dict[int, tuple[int, float, float]] = {}

    def begin(self, scale: float) -> None:
        """Start to count the processor time of the launch."""
        self.scale = scale
        self.end = None if self.seconds is None else _now() + self.seconds

    def unspent(self) -> Effort:
        """The same limits, with nothing counted yet."""
        return Effort(self.most_instructions, self.most_steps, self.seconds)

    def count(self, launch: Any, index: int, lanes: Any) -> None:
        """Count one execution of basic block `index`. Raises `BudgetExceeded` if a limit is passed."""
        price = self._prices.get(index)
        if price is None:
            price = self._prices[index] = _price(launch.program.blocks[index])
        instructions, fixed, each = price
        self.instructions += instructions * lanes.warps
        self.steps += fixed + each * lanes.warps if lanes.full else fixed + APART + each * lanes.warps
        if self.most_instructions is not None and self.instructions > self.most_instructions:
            self._end(launch, index, f"more than {self.most_instructions:,} warp instructions")
        if self.most_steps is not None and self.steps > self.most_steps * self.scale:
            self._end(launch, index, f"more than {self.most_steps:,.0f} steps of the simulator")
        if self.end is not None and _now() > self.end:
            self._end(launch, index, f"for longer than its limit of {self.seconds:g} seconds of processor time")

    def _end(self, launch: Any, index: int, limit: str) -> None:
        block = launch.program.blocks[index]
        item = block.terminator or (block.code[-1] if block.code else None)
        where = launch.describe(item)
        if launch.ended and not self._spins(launch):
            reached = limit.removeprefix("for longer than its limit of ")
            raise BudgetExceeded(
                f"{launch.ended:,} of {launch.blocks:,} blocks ran before the launch reached its limit: {reached}. "
                f"Launch fewer blocks, or allow more. The kernel was at {where}."
            )
        raise BudgetExceeded(f"The kernel executed {limit}; it spins at {where}, or does too much, such as printf.")

    def _spins(self, launch: Any) -> bool:
        """Whether a group of blocks was put off, or the present one needs many times the steps of those before."""
        usual = launch.steps_until_then / launch.ended * launch.running.blocks
        return launch.put_off or self.steps - launch.steps_until_then > UNUSUAL * usual


def _price(block: Any) -> tuple[int, float, float]:
    """(instructions, steps, additional steps for each warp) of one execution of a basic block."""
    code = block.instructions
    return len(code), TURN + len(code), sum(_long(item.opcode) for item in code)


def _long(opcode: str) -> float:
    return next((steps for beginning, steps in LONG.items() if opcode.startswith(beginning)), 0.0)
