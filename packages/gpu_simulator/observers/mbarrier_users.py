"""Finds mbarriers that a thread invalidates while others may still use them.

After mbarrier.inval the 8 bytes are ordinary memory, so every use of the mbarrier has to happen before it: arrivals,
waits, announced bytes, and the arrivals of copies and products in flight. A copy no longer uses its mbarrier when some
thread has waited for the phase that counts it. PTX ISA, "mbarrier.inval".
"""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from gpu_simulator.observers.happens_before import LANE_BITS, LANE_MASK
from gpu_simulator.observers.race_messages import thread_of


class MbarrierUsers:
    """Part of the `RaceDetector`: the last use of each mbarrier by each thread of the cluster.

    listens: whether the kernel has mbarrier.inval; if not, nothing is recorded.
    last: for each mbarrier, (lanes of the cluster,) `event << 32 | lane` of the last use; 0 for none.
    flying: copies that will report to each mbarrier and are not complete.
    """

    def __init__(self, detector):
        self.detector, self.resident = detector, detector.resident
        self.hazards, self.order = detector.hazards, detector.order
        self.listens = self.hazards.uses_inval
        self.last: dict = {}
        self.flying: dict = {}

    def used(self, site: int, barrier, numbers) -> None:
        """Lanes use a barrier. A relaxed arrival does not count: it orders nothing, but its phase ends after it."""
        if not self.listens:
            return
        parts = set(self.resident.program.sites[site].parts)
        if "relaxed" in parts and {"arrive", "arrive_drop"} & parts:
            return
        lanes = 32 * self.order.span
        last = self.last.setdefault(barrier, np.zeros(lanes, np.int64))
        event = np.int64(self.hazards.next_event(site))
        last[numbers % lanes] = event << LANE_BITS | (numbers + self.detector.first_lane)

    def issued(self, load, barrier) -> None:
        if self.listens:
            self.flying.setdefault(barrier, []).append(load)

    def landed(self, load, barrier) -> None:
        if load in self.flying.get(barrier, ()):
            self.flying[barrier].remove(load)

    def forget(self, barrier) -> None:
        """A barrier no longer exists."""
        self.last.pop(barrier, None)
        self.flying.pop(barrier, None)

    def invalidated(self, site: int, lane: int, barrier, record) -> None:
        """Report a use that does not happen before the inval. record: the barrier's `Record`."""
        last, flying = self.last.pop(barrier, None), self.flying.pop(barrier, [])
        if last is None or _counts_its_users(self.resident.program.sites[site]):
            unordered = np.zeros(0, np.int64)
        else:
            unordered = self._unordered(lane, last[last != 0])
        if len(unordered):
            stamp = int(unordered.max())
            self._by_thread(site, lane, barrier, stamp & LANE_MASK, int(self.hazards.site_of[stamp >> LANE_BITS]))
        for load in flying + record.loads + record.ended:
            if load.products is None or not self._done(load, lane):
                self._by_copy(site, lane, barrier, load)
                break

    def _unordered(self, lane: int, stamps: np.ndarray) -> np.ndarray:
        """Those of some uses that do not happen before what a lane does now.

        An arrival of its own warp does if the lane has waited for the phase, though the warp has not met since.
        """
        me = np.array([[lane + self.detector.first_lane]])
        bad = self.order.unordered(me, stamps[None], True)
        if bad is None:
            return stamps[:0]
        event, sites = stamps >> LANE_BITS, self.resident.program.sites
        arrived = np.array([_verb(sites[at]) == "arrive" for at in self.hazards.site_of[event].tolist()])
        waited = (
            arrived
            & ((stamps & LANE_MASK) >> 5 == me[0] >> 5)
            & (event <= self.order.meetings.latest(np.array([lane]))[0])
        )
        return stamps[bad[0] & ~waited]

    def _done(self, load, lane: int) -> bool:
        """Whether the lane knows that the products before a tcgen05.commit are done, perhaps by a later commit."""
        tensor = self.detector.tensor
        progress = tensor.progress.get(load.lane)
        return progress is not None and any(
            tensor.between.told(lane, *one) for one in progress.witnesses(load.products)
        )

    def _start(self, site: int, lane: int, barrier) -> str:
        resident = self.resident
        return (
            f"{resident.describe(site)}: {resident.name_lane(lane)} invalidates the mbarrier at shared address "
            f"{barrier.address}, which"
        )

    def _by_thread(self, site: int, lane: int, barrier, user: int, other: int) -> None:
        resident, verb = self.resident, _verb(self.resident.program.sites[other])
        start, where = self._start(site, lane, barrier), resident.describe(other)
        whose = resident.block_of_lane[user - self.detector.first_lane]
        who = thread_of(resident.launch, user)
        if whose != resident.block_of_lane[lane]:
            who = f"{resident.name_block(int(whose))}, {who}"
        if say := self.hazards.new("missing wait", site, other):
            say(
                f"{start} {who} may still be using ({verb} at {where}): nothing orders the two. All threads that use "
                "an mbarrier have to meet after their last use, at __syncthreads() for example, before one of them "
                "invalidates it."
            )

    def _by_copy(self, site: int, lane: int, barrier, load) -> None:
        start, where = self._start(site, lane, barrier), self.resident.describe(load.site)
        what = "copy" if load.products is None else "commit"
        if say := self.hazards.new("missing wait", site, load.site):
            say(
                f"{start} the {what} at {where} may still be using: no thread has waited for the end of phase "
                f"{load.phase} (parity {load.phase & 1}), which counts it."
            )


def _counts_its_users(item) -> bool:
    """Whether it belongs to `cuda::pipeline` of libcu++, which invalidates its mbarriers when the last thread leaves.

    In each warp one lane counts for those that leave together. Nothing orders their uses before that by the letter
    (`__match_any_sync` orders no memory), but that is none of the user's doing.
    """
    return item.location is not None and any(PurePath(file).name == "pipeline" for file, _ in item.location.frames)


def _verb(item) -> str:
    """What an instruction does with an mbarrier, in one word or two."""
    if item.family != "mbarrier" or item.parts[1] in ("arrive", "arrive_drop"):
        return "arrive"
    return "wait" if item.parts[1] in ("test_wait", "try_wait") else item.parts[1]
