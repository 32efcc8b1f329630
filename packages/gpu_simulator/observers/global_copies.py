"""Finds accesses to global memory that a copy in flight still reads or writes.

A cp.async may read its source until its thread has waited for it. A bulk copy from shared memory may write until its
thread has executed cp.async.bulk.wait_group; after wait_group.read it has only read the shared memory. PTX ISA,
"cp.async" and "cp.async.bulk.wait_group".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_simulator.observers.access import Access
from gpu_simulator.observers.happens_before import LANE_BITS
from gpu_simulator.observers.shadow_memory import GlobalShadow

FREE, WRITTEN, REDUCED = range(3)  # what a bulk copy in flight may still do to a cell


class Source(NamedTuple):
    """What cp.async of some lanes read: (lanes,) first bytes within an array, of `width` bytes each."""

    lanes: np.ndarray
    groups: np.ndarray
    shadow: GlobalShadow
    starts: np.ndarray
    width: int
    site: int


class Target(NamedTuple):
    """What a bulk copy of a lane writes: (n,) first bytes within an array, of `width` bytes each."""

    lane: int
    group: int
    shadow: GlobalShadow
    starts: np.ndarray
    width: int
    site: int


class GlobalCopies:
    """Part of the `RaceDetector` of one group of resident blocks, whose lanes are numbered from 0."""

    def __init__(self, detector):
        self.detector, self.resident, self.hazards = detector, detector.resident, detector.hazards
        self.read: list[tuple[np.ndarray, GlobalShadow, np.ndarray]] = []  # by the cp.async that is being issued
        self.sources: list[Source] = []
        self.targets: list[Target] = []

    # ---- cp.async ----

    def reads_source(self, access: Access) -> None:
        """A cp.async that will be issued next reads this."""
        starts = access.cells[:, 0] * access.shadow.cell
        self.read.append((access.lanes[:, 0] - self.detector.first_lane, access.shadow, starts))

    def issued(self, site: int, width: int) -> None:
        for lanes, shadow, starts in self.read:
            groups = self.resident.groups.committed[lanes].copy()
            self.sources.append(Source(lanes, groups, shadow, starts, width, site))
        self.read = []

    def waited(self, bounds: np.ndarray) -> None:
        """Copies of groups before `bounds` are complete. bounds: by lane."""
        left = []
        for source in self.sources:
            kept = source.groups >= bounds[source.lanes]
            if kept.any():
                lanes, groups, starts = (array[kept] for array in (source.lanes, source.groups, source.starts))
                left.append(source._replace(lanes=lanes, groups=groups, starts=starts))
        self.sources = left

    def reported(self, lane: int) -> None:
        """An mbarrier counts the copies of a lane from now on; they are not followed further."""
        bounds = np.zeros(self.resident.lanes, np.int64)
        bounds[lane] = np.iinfo(np.int64).max
        self.waited(bounds)

    # ---- Bulk copies from shared memory ----

    def stored(self, lane: int, access: Access, width: int, reduces: bool) -> None:
        shadow = access.shadow
        shadow.leave(access.cells, REDUCED if reduces else WRITTEN)
        group = self.resident.transfers.committed.get(lane, 0)
        starts = access.cells[:, 0] * shadow.cell
        self.targets.append(Target(lane, group, shadow, starts, width, access.site))

    def stores_waited(self, bounds: dict[int, int], written: bool) -> None:
        """Count the bulk copies that are complete as writes that their threads make now."""
        if not written:
            return
        left = []
        for target in self.targets:
            if target.group >= bounds.get(target.lane, -1):
                left.append(target)
                continue
            shadow = target.shadow
            cells = shadow.cells(target.starts // target.width, target.width, len(target.starts))
            shadow.leave(cells, FREE)
            event = np.int64(self.hazards.next_event(target.site))
            shadow.written[cells] = event << LANE_BITS | (target.lane + self.detector.first_lane)
        self.targets = left

    # ---- Checks ----

    def check(self, access: Access) -> None:
        """Report an access to global memory that a copy may still write, or a write to what a copy may still read."""
        shadow = access.shadow
        if self.targets and shadow.leaving is not None:
            bad = shadow.leaving[access.cells]
            bad = bad == WRITTEN if self.hazards.accesses.atomic[access.site] else bad != FREE
            if bad.any():
                self._report(access, *np.argwhere(bad)[0], self.targets, "writing", "cp.async.bulk.wait_group")
        if access.verb != "reads":
            for source in self.sources:
                if source.shadow is shadow:
                    taken = access.cells * shadow.cell // source.width * source.width
                    bad = np.isin(taken, source.starts)
                    if bad.any():
                        self._report(access, *np.argwhere(bad)[0], [source], "reading", "cp.async.wait_group")
                        return

    def _report(self, access: Access, row, column, copies, doing: str, wait: str) -> None:
        words, place = self.detector.words(access, row, column), access.cells[row, column] * access.shadow.cell
        site = next(
            (
                copy.site
                for copy in reversed(copies)
                if copy.shadow is access.shadow and (copy.starts == place // copy.width * copy.width).any()
            ),
            -1,
        )
        if say := self.hazards.new("missing wait", access.site, site):
            say(
                f"{words.here(access.site)} {access.verb} {words.place} while the copy at {words.site(site)} may still "
                f"be {doing} it; its thread needs {wait}{' (without .read)' if doing == 'writing' else ''} before."
            )
