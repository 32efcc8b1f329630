"""Who was busy when: the events of a pipeline on a time axis, and what must hold between them.

Times are whatever the maker of the timeline used: `unit` says so. The emulator's are *logical* (`pipeline_placing`), a
GPU's are clocks of its own counters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

LOGICAL = "logical time, in units of the stated model"
KINDS = ("load", "copy", "mma", "issue", "wait", "epilogue", "store")


class Event(NamedTuple):
    """`agent` did `kind` from `start` to `end`. stage: buffer of the ring, tile: tile of D in the order of work.

    agent: such as "TMA", "tensor core" or "warp 4 · producer".
    kind: load (bytes arrive in shared memory) · copy (cp.async) · mma · issue (a warp asks a unit, or feeds the tensor
    core itself) · wait · epilogue (a warp moves results) · store (TMA writes results).
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
    """ "block 1", where agents are told apart by blocks; else ""."""
    return agent.split(" · ")[0] if agent.startswith("block ") else ""


@dataclass(frozen=True)
class Timeline:
    """events: by start.   unit: what the times are.   stages: buffers in the ring.   title, note: for a drawing."""

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
        """The events of an agent, or of all whose name begins so, of any block, by start."""
        names = {
            name
            for name in self.agents
            if f"{name} ".startswith(f"{agent} ")
            or f"{name.removeprefix(f'{block_of(name)} · ')} ".startswith(f"{agent} ")
        }
        return [event for event in self.events if event.agent in names and (not kinds or event.kind in kinds)]

    def between(self, start: float, end: float) -> Timeline:
        """What happened in a window, cut at its ends."""
        cut = tuple(
            event._replace(start=max(event.start, start), end=min(event.end, end))
            for event in self.events
            if event.start < end and event.end > start
        )
        return Timeline(cut, self.unit, self.stages, self.title, self.note)

    def busy(self, agent: str, *kinds: str) -> float:
        """Time in which the agent does something; several of one name count as shares of one."""
        names = {event.agent for event in self.of(agent)}
        return sum(event.length for event in self.of(agent, *kinds)) / max(len(names), 1)

    def share(self, agent: str = "tensor core", kind: str = "mma") -> float:
        """Of the time from the agent's first to its last event of this kind, the part in which it works."""
        mine = self.of(agent, kind)
        if not mine:
            return 0.0
        return self.busy(agent, kind) / (max(e.end for e in mine) - min(e.start for e in mine))

    def bubbles(self, agent: str = "tensor core", kind: str = "mma", least: float = 1e-9) -> list[tuple[float, float]]:
        """The gaps (start, end) between its events in which nobody of that name works."""
        gaps, upto = [], None
        for event in sorted(self.of(agent, kind), key=lambda event: event.start):
            if upto is not None and event.start - upto > least:
                gaps.append((upto, event.start))
            upto = event.end if upto is None else max(upto, event.end)
        return gaps


def broken_laws(timeline: Timeline, tolerance: float = 1e-6) -> list[str]:
    """What no pipeline may show, in words; empty for a sound one.

    An agent does one thing at a time; nothing ends before it starts; a stage is multiplied only after bytes were
    brought into it, and nobody asks for the next bytes of a stage before the tensor core is done with the last.
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
