"""The findings of a launch: races, uninitialised shared reads, missing waits and fences, divergent barriers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_simulator.observers.happens_before import ALWAYS, WarpEvents
from gpu_simulator.observers.race_detector import RaceDetector
from gpu_simulator.observers.race_messages import is_bulk, reports_to_mbarrier
from gpu_simulator.observers.shadow_memory import GlobalShadow

# Modifiers of accesses that are meant for synchronisation: these never race, and they order the accesses around them.
_STRONG = {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio"}
_RELEASING = {"release", "acq_rel"}


def _without_fence(item) -> tuple[bool, bool]:
    releases = bool(_RELEASING & set(item.parts))
    return releases or item.family == "st", releases and "cta" not in item.parts


@dataclass(frozen=True)
class Hazard:
    """One finding. kind: "race", "uninitialised read", "missing wait", "missing fence", "missing fill", "divergent
    barrier", "early arrival", "initialised again", "absent lane" or
    "repeated issue".

    line: of the PTX.   reach: of a race, LANES of one warp, WARPS of one block, or BLOCKS; 0 for the other kinds.
    """

    kind: str
    message: str
    line: int
    reach: int = 0

    def __str__(self) -> str:
        return self.message


def widest_first(found: list[Hazard]) -> list[Hazard]:
    """Sort races: across blocks, then across warps, then within a warp. The other hazards keep their place.

    The widest comes first because what orders the warps of a block also orders the lanes of each warp, but not the
    other way round.
    """
    races = iter(sorted((hazard for hazard in found if hazard.reach), key=lambda hazard: -hazard.reach))
    return [next(races) if hazard.reach else hazard for hazard in found]


class Hazards:
    """The findings of a launch, one for each kind and pair of source lines, and what all groups of blocks share."""

    def __init__(self, launch):
        self.launch, self.found, self._seen = launch, [], {}
        sites = launch.program.sites
        self.where = [item.location or item.line for item in sites]  # the same for all copies of an unrolled loop
        self.atomic = np.array([item.family in ("atom", "red") or "reduce" in item.parts for item in sites] or [False])
        self.strong = [bool(_STRONG & set(item.parts)) for item in sites]
        # Whether the access publishes earlier ones without a fence: (within the block, beyond it).
        self.publishes = [_without_fence(item) for item in sites]
        self.bulk = np.array([is_bulk(item) for item in sites] or [False])
        self.uses_bulk = any(reports_to_mbarrier(i) for i in sites)
        self.uses_inval = any(item.family == "mbarrier" and "inval" in item.parts for item in sites)
        self.constant = [bool({"param", "const"} & set(item.parts)) for item in sites]
        self.event, self.site_of = ALWAYS, np.full(1024, -1, np.int32)
        blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
        self.own = -(-launch.threads // 32)
        launch.account.take(blocks * self.own * WarpEvents.BYTES, "the hazards' record of every warp")
        self.published = WarpEvents(blocks * self.own)
        self.arrays: dict[int, GlobalShadow] = {}

    def observe(self, resident) -> RaceDetector:
        """The observer of one group of resident blocks."""
        return RaceDetector(resident, self)

    def close(self) -> None:
        """Free everything but the findings when the launch has ended."""
        self.arrays, self.published = {}, None

    def next_event(self, site: int) -> int:
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
        return found

    def add(self, kind: str, site: int, other: int, sentence, reach: int = 0) -> None:
        key = (kind, self.where[site], self.where[other] if other >= 0 else None)
        place = self._seen.get(key, len(self.found))
        if place == len(self.found) or reach > self.found[place].reach:  # keep the widest race of the same two lines
            self._seen[key] = place
            self.found[place : place + 1] = [Hazard(kind, sentence(), self.launch.program.sites[site].line, reach)]
