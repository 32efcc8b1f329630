"""What the warps of a launch ask for, in their order, with who waits for whom and without any time.

A `Trace` is what the emulator saw: for each warp the list of its steps. A signal names one phase of one barrier, such
as (block, shared address, phase); a wait for it ends when every step of the trace that counts for it has happened.
`pipeline_placing` puts such a trace into logical time.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
    blocks: whose SMs do it, where that is not the warp's own alone: a load for another block, a product of a pair.
    more: it goes with the step before, and costs the warp nothing: the further blocks of a multicast.
    """

    what: str
    amount: float = 0.0
    unit: str = ""
    signal: tuple | None = None
    newest: int = 0
    stage: int | None = None
    turn: int | None = None
    tile: int | None = None
    blocks: tuple[int, ...] = ()
    more: bool = False


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


def with_stages(steps: list[Step], stage_of: dict[int, int]) -> list[Step]:
    """The steps of a warp with a stage for each mma. stage_of: shared address of a barrier of loads -> stage.

    mma.sync reads registers: what a warp multiplies between two arrivals that free a buffer came from that buffer.

    Without such arrivals it is what the warp waited for last. Buffers are freed in the order in which they were filled.
    """

    def freeing(step: Step) -> bool:
        return step.what == ARRIVE and type(step.signal[1]) is int and step.signal[1] not in stage_of

    def filled(step: Step) -> bool:
        return step.what == WAIT and step.signal[1] in stage_of

    waited = [step.signal for step in steps if filled(step)]
    exact = sum(map(freeing, steps)) == len(waited)
    done, freed, seen = [], 0, 0
    for step in steps:
        seen += filled(step)
        if step.what == MMA and waited:
            _, barrier, phase = waited[min(freed, len(waited) - 1) if exact else max(seen - 1, 0)]
            step = step._replace(stage=stage_of[barrier], turn=phase)
        freed += freeing(step)
        done.append(step)
    return done


def with_tiles(trace: Trace) -> Trace:
    """Tiles of D numbered block by block in the order of their first bytes, where warps share them out.

    Each warp counts its own before; those whose products begin with the same filling of the ring work on one tile.
    """
    first: dict[tuple, int] = {}  # (block, warp, its own number) -> the filling with which the tile begins
    for (block, warp), steps in trace.steps.items():
        for step in steps:
            if step.tile is not None and step.turn is not None:
                key = (block, warp, step.tile)
                filling = step.turn * trace.stages + step.stage
                first[key] = min(first.get(key, filling), filling)
    order = {block: sorted({filling for key, filling in first.items() if key[0] == block}) for block in trace.blocks}

    def numbered(block: int, warp: int, step: Step) -> Step:
        filling = first.get((block, warp, step.tile))
        return step if filling is None else step._replace(tile=order[block].index(filling))

    steps = {
        (block, warp): [numbered(block, warp, step) for step in steps] for (block, warp), steps in trace.steps.items()
    }
    return replace(trace, steps=steps)
