"""Finds arrivals at a barrier of the block that could be counted in another phase than in this run.

A barrier of the block (bar.sync, bar.arrive) has no memory of who arrives: a phase ends when as many threads have
arrived as the instruction says. A thread that arrives for the next phase has to know that the last one is over, by
having waited for it or by another synchronisation. If it does not know, then in another order of the warps its arrival
may end the last phase in the place of a thread that has not come yet. PTX ISA, "bar, barrier": the number of threads is
all that a barrier counts.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpu_simulator.observers.happens_before import LANE_BITS
from gpu_simulator.observers.race_messages import thread_of


class BarrierPhases:
    """Part of the `RaceDetector`.

    last: by (resident block, number of the barrier), who arrived in its last complete phase: by warp, the event of the
    arrival.   unheard: the number of threads of that phase, if none of them waited for its end.
    """

    def __init__(self, detector):
        self.detector, self.resident = detector, detector.resident
        self.hazards, self.order = detector.hazards, detector.order
        self.last: dict[tuple[int, int], dict[int, int]] = {}
        self.unheard: dict[tuple[int, int], int] = {}

    def arrived(self, key: tuple[int, int], warps: Iterable[int], site: int, expected: int | None = None) -> None:
        """Some warps arrive at a barrier. key: as in `last`.   expected: as for `Arrival`."""
        earlier = self.last.get(key)
        if not earlier:
            return
        first = self.detector.first_lane
        stamps = np.array([event << LANE_BITS | (32 * warp + first) for warp, event in earlier.items()])
        lanes = np.array([[32 * warp + first] for warp in warps])
        bad = self.order.unordered(lanes, np.broadcast_to(stamps, (len(lanes), len(stamps))), True)
        if bad is not None:
            row, column = np.argwhere(bad)[0]
            warp, event = list(earlier.items())[column]
            counts = self.unheard.get(key, 0), expected or 0
            self._report(key[1], site, int(lanes[row, 0]), int(self.hazards.site_of[event]), 32 * warp + first, counts)

    def everyone(self, number: int, site: int) -> None:
        """All warps of all resident blocks meet at barrier `number`, and a phase begins and ends."""
        own = self.resident.warps_per_block
        for key in [key for key in self.last if key[1] == number]:
            self.arrived(key, range(key[0] * own, (key[0] + 1) * own), site)
            del self.last[key]

    def met(self, key: tuple[int, int], arrivals: dict[int, int], unheard: int) -> None:
        """A phase is complete. arrivals: as the values of `last`.   unheard: as its values, 0 if a thread waited."""
        self.last[key], self.unheard[key] = arrivals, unheard

    def _report(self, number: int, site: int, lane: int, other: int, other_lane: int, counts: tuple[int, int]) -> None:
        """counts: the threads of the last phase if nobody waited for it, and those that this arrival names; or 0."""
        resident = self.resident
        launch, where = resident.launch, resident.describe
        if say := self.hazards.new("early arrival", site, other):
            say(
                f"{where(site)}: {resident.name_lane(lane - self.detector.first_lane)} arrives at barrier {number}, "
                f"and nothing tells it that the last phase of this barrier is over, for which "
                f"{thread_of(launch, other_lane)} arrived at {where(other)}. " + _remedy(*counts)
            )


def _remedy(unheard: int, expected: int) -> str:
    if unheard and expected:
        return (
            f"That phase had {unheard} arrivals and nobody who waited for it, so {expected} is too small a number: "
            "those that arrive and those that wait both have to name the threads of both, "
            f"{unheard + expected} if {expected} threads wait."
        )
    return (
        "If that thread is late, this arrival is counted in its place. Threads that arrive for another phase have to "
        "wait for the end of the last one (bar.sync instead of bar.arrive), or use a barrier with another number."
    )
