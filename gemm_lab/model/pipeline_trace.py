"""What the warps of a launch ask for, in their order, with who waits for whom and without any time.

A `Trace` is what the emulator saw: for each warp the list of its steps. A signal names one phase of one barrier, such
as (block, shared address, phase); a wait for it ends when every step of the trace that counts for it has happened.
`pipeline_placing` puts such a trace into logical time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

# What a step can be. Units "copies", "stores", "wgmma" and "tcgen05" work on their own once they are asked.
LOAD, ASYNC, COMMIT, DRAIN = "load", "async", "commit", "drain"
MMA, EPILOGUE, ARRIVE, WAIT = "mma", "epilogue", "arrive", "wait"
COPIES, STORES, WGMMA, TCGEN05 = "copies", "stores", "wgmma", "tcgen05"


class Step(NamedTuple):
    """One thing that a warp does.

    load        asks TMA for `amount` bytes, which count for `signal`
    async       asks `unit` for `amount` bytes or FLOP
    commit      of a group of `unit`; with a `signal` that phase counts the end of all that was asked of it (tcgen05)
    drain       waits for all but the `newest` groups of `unit`
    mma         multiplies, `amount` FLOP, and goes on when that is done
    epilogue    moves `amount` bytes towards D; `unit` says from where: "tensor memory" or "registers"
    arrive, wait   count for, or wait for, `signal`

    stage: the buffer of the ring.   turn: how often that was filled before.   tile: of D, in the order of work.
    """

    what: str
    amount: float = 0.0
    unit: str = ""
    signal: tuple | None = None
    newest: int = 0
    stage: int | None = None
    turn: int | None = None
    tile: int | None = None


@dataclass
class Trace:
    """steps: (block, warp of the block) -> its steps.   stages: buffers in the ring.   name: of the kernel."""

    steps: dict[tuple[int, int], list[Step]] = field(default_factory=dict)
    stages: int = 0
    name: str = ""

    @property
    def blocks(self) -> tuple[int, ...]:
        return tuple(sorted({block for block, _ in self.steps}))

    def role(self, block: int, warp: int) -> str:
        """What a warp is for, from what it does: "producer", "MMA", "consumer", "epilogue" or "other"."""
        steps = self.steps[block, warp]
        loads = any(step.what == LOAD or step.unit == COPIES for step in steps)
        own = any(step.what == MMA or step.unit == WGMMA for step in steps)
        issues = any(step.unit == TCGEN05 for step in steps)
        ends = any(step.what == EPILOGUE or step.unit == STORES for step in steps)
        words = [word for word, is_so in (("producer", loads), ("consumer", own), ("MMA", issues)) if is_so]
        if ends and not own:
            words.append("epilogue")
        return " + ".join(words) or "other"

    def signals(self) -> dict[tuple, int]:
        """How many steps count for each signal."""
        found: dict[tuple, int] = {}
        for steps in self.steps.values():
            for step in steps:
                if step.signal is not None and step.what != WAIT:
                    found[step.signal] = found.get(step.signal, 0) + 1
        return found
