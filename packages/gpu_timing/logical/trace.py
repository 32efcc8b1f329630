"""`Trace`: what the warps of a launch request and what they wait for, in program order and without times.

A trace is what the simulator recorded: for each warp the list of its steps. A signal identifies one phase of one
barrier, such as (block, shared address, phase); a wait for it ends when every step of the trace that counts towards it
has happened. `pipeline_placing` assigns logical times to such a trace.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

# The kinds of steps. The units "copies", "stores", "wgmma" and "tcgen05" work asynchronously.
LOAD, ASYNC, COMMIT, DRAIN = "load", "async", "commit", "drain"
MMA, EPILOGUE, ARRIVE, WAIT = "mma", "epilogue", "arrive", "wait"
COPIES, STORES, WGMMA, TCGEN05 = "copies", "stores", "wgmma", "tcgen05"


class Step(NamedTuple):
    """One step of a warp.

    load        requests `amount` bytes from TMA, which count towards `signal`
    async       requests `amount` bytes or FLOP from `unit`
    commit      closes a group of `unit`; with a `signal` (tcgen05), the end of all earlier requests counts towards it
    drain       waits for all but the `newest` groups of `unit`
    mma         multiplies, `amount` FLOP, and waits for the result
    epilogue    moves `amount` bytes towards D; `unit` says from where: "tensor memory" or "registers"
    arrive, wait   count towards, or wait for, `signal`

    stage: the buffer of the ring.   turn: how often that buffer was filled before.   tile: of D, in the order of work.
    blocks: whose SMs do the work, if not only the warp's own: a load for another block, a product of a pair.
    more: belongs to the step before and costs the warp nothing: the further blocks of a multicast.
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
        """The roles of a warp, derived from its steps and joined by " + ": "producer", "consumer", "MMA", "epilogue";
        "other" if there is none.
        """
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
        """Signal -> the number of steps that count towards it."""
        found: dict[tuple, int] = {}
        for steps in self.steps.values():
            for step in steps:
                if step.signal is not None and step.what != WAIT:
                    found[step.signal] = found.get(step.signal, 0) + 1
        return found


def with_stages(steps: list[Step], stage_of: dict[int, int]) -> list[Step]:
    """The steps of a warp with a stage for each mma. stage_of: shared address of a load's mbarrier -> stage.

    mma.sync reads registers, so its buffer is inferred: what a warp multiplies between two arrivals that free a buffer
    came from that buffer, and buffers are freed in the order in which they were filled. If there are no such arrivals,
    it is the buffer that the warp waited for last.
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
    """The trace with the tiles of D numbered per block, in the order in which their first operands are loaded.

    Until then each warp numbers its own tiles. Warps whose products begin with the same filling of the ring work on the
    same tile.
    """
    first: dict[tuple, int] = {}  # (block, warp, the warp's number of a tile) -> the filling with which it begins
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
