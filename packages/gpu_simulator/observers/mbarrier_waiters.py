"""Finds threads that wait for the phases of an mbarrier although nothing makes its next phase wait for them.

A wait names only the parity of its phase. If two phases may pass before a thread looks, it sees the parity that it does
not wait for, and waits for ever. So the end of a phase has to be ordered after the waits for the phase before it: by an
arrival of the waiting threads, or of threads that know of them.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.observers.severities import SUSPICIOUS


class MbarrierWaiters:
    """Part of the `RaceDetector`."""

    def __init__(self, detector):
        self.detector, self.resident, self.hazards = detector, detector.resident, detector.hazards
        self.order = detector.order

    def over(self, site: int, barrier, record, numbers: np.ndarray) -> None:
        """Lanes have seen that the phase before the current one is complete."""
        event = self.hazards.next_event(site)
        for lane in numbers[np.unique(numbers >> 5, return_index=True)[1]].tolist():
            record.waits[lane >> 5] = barrier.phase - 1, event, site, lane

    def completed(self, barrier, record) -> None:
        """Report a warp whose wait for the phase before the one that has just ended is not known to who arrived."""
        ended, told = barrier.phase - 1, record.told_over.past
        if any(load.products is not None for load in record.ended):
            return  # what the thread of a tcgen05.commit knows of single lanes is not followed
        for warp, (phase, event, site, lane) in record.waits.items():
            if phase != ended - 1 or event <= max(self.order.floor, self._known(record, warp)) or told.chains:
                continue
            if say := self.hazards.new("early arrival", site, severity=SUSPICIOUS):
                say(self._said(site, lane, phase, barrier))

    def _said(self, site: int, lane: int, phase: int, barrier) -> str:
        return (
            f"{self.resident.describe(site)}: {self.resident.name_lane(lane)} has waited for phase {phase} (parity "
            f"{phase & 1}) of the mbarrier at shared address {barrier.address}, but the next phase does not wait for "
            "this thread: it neither arrives nor meets one that does. Two phases may pass before it looks, and then it "
            "waits for ever; count it among the arrivals, or let it meet a thread that arrives."
        )

    def _known(self, record, warp: int) -> int:
        """The last event of a warp of which a thread that has arrived knows; with wgmma, of a warp of its warpgroup."""
        order, size = self.order, 1 if self.resident.warpgroups is None else 4
        rows = range(warp // size * size, min(warp // size * size + size, self.resident.warps))
        lanes = record.told_over.past.lanes.items()
        single = [event for lane, event in lanes if (lane >> 5) - order.first in rows]
        return max([int(record.over[order.local[row]]) for row in rows] + single)
