"""The findings of a launch: races, uninitialised shared reads, missing waits and fences, divergent barriers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial

import numpy as np

from gpu_simulator.faults import Extents, threads_named
from gpu_simulator.machine.resident_blocks import ResidentBlocks
from gpu_simulator.observers.happens_before import ALWAYS
from gpu_simulator.observers.race_detector import RaceDetector
from gpu_simulator.observers.race_messages import is_bulk, reports_to_mbarrier
from gpu_simulator.observers.severities import ERROR, SUSPICIOUS
from gpu_simulator.observers.shadow_memory import GlobalShadow
from gpu_simulator.observers.strong_accesses import accesses_of, guessed, passed_on
from gpu_simulator.observers.struct_padding import may_copy_padding
from gpu_simulator.observers.tcgen05.early_uses import early_uses
from gpu_simulator.ptx.ir import Instruction


@dataclass(frozen=True)
class Hazard:
    """One finding. kind: "race", "uninitialised read", "missing wait", "missing fence", "missing fill", "divergent
    barrier", "early arrival", "early use", "initialised again", "absent lane", "repeated issue", "unordered read",
    "read-only load", "unwritten register" or "unset variable".

    line: of the source, in `file`; 0 and None where the PTX names none.   ptx_line: of the PTX.
    reach: of a race, LANES of one warp, WARPS of one block, or BLOCKS; 0 for the other kinds.
    severity: "race"; "suspicious" for what may be intended, such as a race of equal values; or "error" for the others.
    block, thread: (x, y, z) of the thread that the message names first; None if it names several at once.
    """

    kind: str
    message: str
    line: int = 0
    reach: int = 0
    severity: str = ERROR
    file: str | None = None
    ptx_line: int = 0

    @property
    def block(self) -> Extents | None:
        """The block that the message names first."""
        return threads_named(self.message)[0]

    @property
    def thread(self) -> Extents | None:
        """The thread of that block."""
        return threads_named(self.message)[1]

    def __str__(self) -> str:
        return self.message


def hazard_at(item: Instruction, kind: str, message: str, reach: int = 0, severity: str = ERROR) -> Hazard:
    """A finding at a PTX instruction."""
    file, line = item.location.frames[item.location.in_own_file] if item.location else (None, 0)
    return Hazard(kind, message, line, reach, severity, file, item.line)


def widest_first(found: list[Hazard]) -> list[Hazard]:
    """Sort races: across blocks, then across warps, then within a warp. What is only suspicious comes last.

    The widest comes first because what orders the warps of a block also orders the lanes of each warp, but not the
    other way round. The other hazards keep their place.
    """
    found = sorted(found, key=lambda hazard: hazard.severity == SUSPICIOUS)
    races = iter(sorted((hazard for hazard in found if _is_race(hazard)), key=lambda hazard: -hazard.reach))
    return [next(races) if _is_race(hazard) else hazard for hazard in found]


def _is_race(hazard: Hazard) -> bool:
    return bool(hazard.reach) and hazard.severity != SUSPICIOUS


class Hazards:
    """The findings of a launch, one for each kind and pair of source lines, and what all groups of blocks share."""

    def __init__(self, launch):
        self.launch, self.found, self._seen = launch, [], {}
        self.passed_on, self.guessed, self.may_copy_padding = (
            cache(partial(question, launch.program)) for question in (passed_on, guessed, may_copy_padding)
        )
        sites = launch.program.sites
        self.where = [item.location or item.line for item in sites]  # the same for all copies of an unrolled loop
        self.accesses = accesses_of(launch.program)
        self.copies = [item.family == "cp" and "async" in item.parts and "bulk" not in item.parts for item in sites]
        self.bulk = np.array([is_bulk(item) for item in sites] or [False])
        self.uses_bulk = any(reports_to_mbarrier(i) for i in sites)
        self.uses_inval = any(item.family == "mbarrier" and "inval" in item.parts for item in sites)
        self.constant = [bool({"param", "const"} & set(item.parts)) for item in sites]
        self.read_only = np.array([item.family == "ld" and "nc" in item.parts for item in sites] + [False])
        self.any_read_only = bool(self.read_only.any())
        self.event, self.site_of = ALWAYS, np.full(1024, -1, np.int32)
        self.own = -(-launch.threads // 32)
        self.strong_writes: dict[int, int] = {}
        self.proxy_fenced: dict[int, int] = {}  # by warp that has ended, the last event that a fence.proxy.async covers
        self.arrays: dict[int, GlobalShadow] = {}

    @cached_property
    def early_uses(self) -> dict[int, int]:
        """As the function of this name; asked for when there is a tcgen05.ld."""
        return early_uses(self.launch.program.blocks)

    def observe(self, resident: ResidentBlocks) -> RaceDetector:
        """The observer of one group of resident blocks."""
        return RaceDetector(resident, self)

    def close(self) -> None:
        """Free everything but the findings when the launch has ended."""
        self.arrays = {}

    def next_event(self, site: int) -> int:
        """Number an access of the instruction `site`; returns the number."""
        self.event += 1
        if self.event >= len(self.site_of):
            self.site_of = np.concatenate([self.site_of, np.full_like(self.site_of, -1)])
        self.site_of[self.event] = site
        return self.event

    def array(self, number: int) -> GlobalShadow:
        """The shadow of one allocation of global memory."""
        found = self.arrays.get(number)
        if found is None:
            memory, account = self.launch.memory, self.launch.account
            size = memory.ends[number] - memory.starts[number]
            found = self.arrays[number] = GlobalShadow(
                size, lambda more: account.take(more, "the hazards' record of global memory"), self.own
            )
            found.unset = number in memory.unset
        return found

    def forget(self, number: int) -> None:
        """An allocation has been freed, and its place is used for a new one."""
        self.arrays.pop(number, None)

    def new(
        self, kind: str, site: int, other: int = -1, reach: int = 0, severity: str = ERROR
    ) -> Callable[[str], None] | None:
        """A function that adds a finding with a sentence; None if there is one of this kind at the same two lines.

        site: of the instruction that is reported.   other: that of an earlier one, -1 without.
        """
        key = (kind, self.where[site], self.where[other] if other >= 0 else None)
        place = self._seen.get(key, len(self.found))
        worse = place == len(self.found) or self.found[place].severity == SUSPICIOUS != severity
        if not worse and reach <= self.found[place].reach:  # keep the widest race of the same two lines
            return None

        def say(sentence: str) -> None:
            self._seen[key] = place
            item = self.launch.program.sites[site]
            self.found[place : place + 1] = [hazard_at(item, kind, sentence, reach, severity)]

        return say
