"""Records a predicted SM: every issue with the waits before it, and when each unit was busy for which instruction.

`RecordedSm` looks at the model before and after each issue, so a recording agrees with the model's own sums. A
prediction is stepped through without it, and costs what it did.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gpu_timing.cycles.machine_code import Instruction
from gpu_timing.cycles.pipes import PIPES
from gpu_timing.cycles.sm import SmModel
from gpu_timing.cycles.stall_reasons import LG, MATH, MIO, NOT_SELECTED, REASONS, SELECTED
from gpu_timing.machine_code.main_loop import main_loop

SHARED_UNITS = {"shared_memory": "data", "l1_tags": "tag", "l2_port": "port"}  # and their names in `MemoryPath`
# What a warp can wait for once its own dependences are met: first another warp is chosen, then the unit is taken.
_UNIT_TAKEN = (NOT_SELECTED, MATH, MIO, LG)


class Issue(NamedTuple):
    """A warp issues an instruction (its index in the code) in `cycle`. waits: (reason, cycles) before it, in order."""

    cycle: float
    warp: int
    instruction: int
    waits: tuple[tuple[str, float], ...]

    @property
    def start(self) -> float:
        """When the warp began to wait for this issue."""
        return self.cycle - sum(cycles for _, cycles in self.waits)


class Busy(NamedTuple):
    """A unit works from `start` to `end` for the instruction of a warp.

    unit: one of `PIPES` or of `SHARED_UNITS`.   part: its sub-partition; -1 for a unit that the SM has once.
    """

    unit: str
    part: int
    start: float
    end: float
    warp: int
    instruction: int


class Warp(NamedTuple):
    """Where a warp is: its block among the resident ones, its number in the block, its sub-partition."""

    block: int
    number: int
    part: int


class RecordedSm(SmModel):
    """An `SmModel` that keeps `issues` and `intervals` while it runs."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.issues: list[Issue] = []
        self.intervals: list[Busy] = []

    def _issue(self, warp: int, part: int, now: float) -> tuple[int, int]:
        number = self.paths[warp][self.at[warp]]
        step, charged = self.steps[number], list({number, self.cause[warp]})
        row = self.stalls[charged].sum(0)
        units, tensor, busy = self._units(), self.tensor_free[part], self.busy[0]
        reads = super()._issue(warp, part, now)
        grown = self.stalls[charged].sum(0) - row
        reasons = sorted(grown.nonzero()[0], key=lambda one: _UNIT_TAKEN.index(one) + 1 if one in _UNIT_TAKEN else 0)
        waits = tuple((REASONS[reason], float(grown[reason])) for reason in reasons if reason != SELECTED)
        self.issues.append(Issue(now, warp, number, waits))

        def works(unit: str, part: int, end: float, cycles: float) -> None:
            self.intervals.append(Busy(unit, part, end - cycles, end, warp, number))

        if self.tensor_free[part] > tensor:  # wgmma: its product, and not the two cycles of its issue
            works(PIPES[0], part, self.tensor_free[part], self.busy[0] - busy - step.cycles)
        elif step.pipe is not None and step.cycles:
            works(PIPES[step.pipe], part, self.pipe_free[part][step.pipe], step.cycles)
        for (unit, before, _), (_, after, free) in zip(units, self._units(), strict=True):
            if after > before:
                works(unit, -1, free, after - before)
        return reads

    def _units(self) -> list[tuple[str, float, float]]:
        """(name, cycles in which it was busy, when it is free) of each shared unit."""
        memory = self.memory
        return [
            (unit, getattr(memory, f"busy_{name}"), getattr(memory, f"{name}_free"))
            for unit, name in SHARED_UNITS.items()
        ]


@dataclass(frozen=True)
class Recording:
    """A predicted run of an SM, or a part of it.

    start, end: in cycles since the first block began.   issues, busy: those that lie in this time, whole or in part,
    by their cycle.   warps: all warps of the resident blocks.   turns: cycles in which a warp that multiplies begins a
    turn of the main loop; empty if the machine code has no main loop.
    """

    code: tuple[Instruction, ...]
    warps: tuple[Warp, ...]
    start: float
    end: float
    issues: tuple[Issue, ...] = field(repr=False)
    busy: tuple[Busy, ...] = field(repr=False)
    turns: tuple[float, ...] = field(default=(), repr=False)

    @staticmethod
    def of(sm: RecordedSm, cycles: float) -> Recording:
        """The recording of a model that has run for so many cycles."""
        warps = tuple(
            Warp(block, sm.warps_of[block].index(warp), sm.part_of[warp]) for warp, block in enumerate(sm.block_of)
        )
        # The last warp ends with the cycle of its last issue, whose own cycle follows.
        busy = tuple(sorted(sm.intervals, key=lambda one: one.start))
        return Recording(sm.code, warps, 0.0, cycles + 1, tuple(sm.issues), busy, _turns(sm))

    def between(self, start: float, end: float) -> Recording:
        """The part of the run from `start` to `end`. Waits and busy times that cross a border are not cut."""
        return Recording(
            self.code,
            self.warps,
            max(start, self.start),
            min(end, self.end),
            tuple(one for one in self.issues if one.start < end and one.cycle + 1 > start),
            tuple(one for one in self.busy if one.start < end and one.end > start),
            tuple(cycle for cycle in self.turns if start <= cycle < end),
        )

    def waits(self) -> dict[str, float]:
        """Warp cycles by reason within the time of this recording, the largest first; "selected" is the issue."""
        sums: Counter[str] = Counter()
        for one in self.issues:
            at = one.start
            for reason, cycles in (*one.waits, (REASONS[SELECTED], 1.0)):
                sums[reason] += max(min(at + cycles, self.end) - max(at, self.start), 0.0)
                at += cycles
        return {reason: cycles for reason, cycles in sums.most_common() if cycles}

    def share(self, unit: str, part: int = -1) -> float:
        """Share of the time, 0 to 1, in which a unit is busy. part: its sub-partition, -1 for a shared unit."""
        mine = (one for one in self.busy if one.unit == unit and one.part == part)
        return sum(min(one.end, self.end) - max(one.start, self.start) for one in mine) / (self.end - self.start)


def _turns(sm: RecordedSm) -> tuple[float, ...]:
    loop = main_loop([one.line for one in sm.code])
    if loop is None:
        return ()
    head = next(one.index for one in sm.code if one.line.address == loop.lines[0].address)
    begins = [(one.warp, one.cycle) for one in sm.issues if one.instruction == head]
    if not begins:
        return ()
    ((most, _),) = Counter(warp for warp, _ in begins).most_common(1)
    return tuple(cycle for warp, cycle in begins if warp == most)
