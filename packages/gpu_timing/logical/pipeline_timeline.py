"""Events of a pipeline on a time axis, and the rules that every correct timeline obeys.

`unit` says what the times are. Timelines of the simulator are in *logical* time (`pipeline_placing`); those of a GPU
are in clocks of its own counters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

LOGICAL = "logical time, in units of the stated model"
KINDS = ("load", "copy", "mma", "issue", "wait", "epilogue", "store")


class Event(NamedTuple):
    """`agent` did `kind` from `start` to `end`.

    agent: such as "TMA", "tensor core" or "warp 4 · producer".
    kind: load (bytes arrive in shared memory) · copy (cp.async) · mma · issue (a warp issues requests to a unit, or its
    own tensor instructions) · wait · epilogue (a warp moves results) · store (TMA writes results).
    stage: the buffer of the ring.   tile: the number of the output tile, in the order of computation.
    """

    agent: str
    kind: str
    stage: int | None
    tile: int | None
    start: float
    end: float

    @property
    def length(self) -> float:
        return self.end - self.start


def block_of(agent: str) -> str:
    """The block in an agent's name, such as "block 1"; "" if the name has none."""
    return agent.split(" · ")[0] if agent.startswith("block ") else ""


@dataclass(frozen=True)
class Timeline:
    """Events sorted by start.

    unit: what the times are.   stages: number of buffers in the ring.   title, note: text for a drawing.
    """

    events: tuple[Event, ...]
    unit: str = LOGICAL
    stages: int = 0
    title: str = ""
    note: str = ""

    @property
    def agents(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(event.agent for event in self.events))

    @property
    def start(self) -> float:
        return min((event.start for event in self.events), default=0.0)

    @property
    def end(self) -> float:
        return max((event.end for event in self.events), default=0.0)

    def of(self, agent: str, *kinds: str) -> list[Event]:
        """The events of the agents whose name, with or without the block, begins with the words `agent`; by start.

        kinds: only these kinds; all kinds if none is given.
        """
        names = {
            name
            for name in self.agents
            if f"{name} ".startswith(f"{agent} ")
            or f"{name.removeprefix(f'{block_of(name)} · ')} ".startswith(f"{agent} ")
        }
        return [event for event in self.events if event.agent in names and (not kinds or event.kind in kinds)]

    def between(self, start: float, end: float) -> Timeline:
        """The part of the timeline from `start` to `end`; events that cross a border are cut there."""
        cut = tuple(
            event._replace(start=max(event.start, start), end=min(event.end, end))
            for event in self.events
            if event.start < end and event.end > start
        )
        return Timeline(cut, self.unit, self.stages, self.title, self.note)

    def busy(self, agent: str, *kinds: str) -> float:
        """Time spent in events of these kinds (all, if none is given): the mean over the agents that `of` selects."""
        names = {event.agent for event in self.of(agent)}
        return sum(event.length for event in self.of(agent, *kinds)) / max(len(names), 1)

    def share(self, agent: str = "tensor core", kind: str = "mma") -> float:
        """Share, 0 to 1, of the time from the first to the last event of this kind in which the agent does it."""
        mine = self.of(agent, kind)
        if not mine:
            return 0.0
        return self.busy(agent, kind) / (max(e.end for e in mine) - min(e.start for e in mine))

    def bubbles(self, agent: str = "tensor core", kind: str = "mma", least: float = 1e-9) -> list[tuple[float, float]]:
        """Gaps (start, end) longer than `least` between events of this kind, in which none of these agents works."""
        gaps, upto = [], None
        for event in sorted(self.of(agent, kind), key=lambda event: event.start):
            if upto is not None and event.start - upto > least:
                gaps.append((upto, event.start))
            upto = event.end if upto is None else max(upto, event.end)
        return gaps


def broken_laws(timeline: Timeline, tolerance: float = 1e-6) -> list[str]:
    """One sentence for each rule that the timeline breaks; an empty list if it breaks none.

    The rules: an agent does one thing at a time; no event ends before it starts; a stage is multiplied only after bytes
    were loaded into it; no bytes are loaded into a stage while the tensor cores multiply it.
    """
    found = []
    for event in timeline.events:
        if event.end < event.start - tolerance:
            found.append(f"{event.agent}: {event.kind} ends at {event.end:g}, before its start at {event.start:g}")
    for agent in timeline.agents:
        mine = sorted((e for e in timeline.events if e.agent == agent), key=lambda e: (e.start, e.end))
        for first, second in zip(mine, mine[1:], strict=False):
            if second.start < first.end - tolerance:
                found.append(
                    f"{agent}: {second.kind} starts at {second.start:g}, while {first.kind} lasts to {first.end:g}"
                )
    for block in dict.fromkeys(map(block_of, timeline.agents)):
        mine = [event for event in timeline.events if block_of(event.agent) == block]
        for stage in range(timeline.stages):
            found += _stage_laws([event for event in mine if event.stage == stage], stage, tolerance)
    return found


def _stage_laws(of_stage: list[Event], stage: int, tolerance: float) -> list[str]:
    loads = sorted((e for e in of_stage if e.kind == "load"), key=lambda e: e.end)
    products = sorted((e for e in of_stage if e.kind == "mma"), key=lambda e: e.start)
    found = []
    for product in products:
        before = [load for load in loads if load.end <= product.start + tolerance]
        if loads and not before:
            found.append(f"stage {stage}: multiplied at {product.start:g}, before its first bytes came")
        during = [
            load for load in loads if load.start < product.end - tolerance and load.end > product.start + tolerance
        ]
        if during:
            found.append(
                f"stage {stage}: bytes come at {during[0].start:g}, while it is multiplied until {product.end:g}"
            )
    return found
