"""Between threads: which tcgen05 accesses of one come after those of another, and by which fences.

Beside what memory order gives (`ordering`), barriers that are relaxed order execution alone, which is enough for
tcgen05 behind tcgen05.fence::before_thread_sync. PTX ISA, "tcgen05: Specialized Inter-thread Synchronization".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS


class Tcgen05Order:
    """Of one group of resident blocks. Lanes are numbers among the resident blocks.

    reached[w, u]: the last event of warp u of the same cluster that warp w comes after, by relaxed barriers as well.
    after[lane, u]: what that event was when the lane last executed tcgen05.fence::after_thread_sync.
    loose: whether the kernel has relaxed mbarriers.
    """

    def __init__(self, detector):
        self.detector, self.order, self.hazards = detector, detector.order, detector.hazards
        warps, others = detector.order.known.shape
        self.reached, self.after = (np.full((rows, others), ALWAYS, np.int64) for rows in (warps, 32 * warps))
        self.loose = any(
            item.family == "mbarrier" and "relaxed" in item.parts for item in detector.resident.program.sites
        )

    def told(self, lane: int, event: int, other: int) -> bool:
        """Whether a thread may rely on an event of another, as for memory."""
        row, source, order = lane >> 5, other >> 5, self.order
        if row == source:
            return True  # the whole warp waits together, or the thread itself does
        if row // order.span == source // order.span and order.known[row, order.local[source]] >= event:
            return True
        first = self.detector.first_lane
        before = np.full((1, 1), event << LANE_BITS | (other + first), np.int64)
        return order.unordered(np.full((1, 1), lane + first), before, True) is None

    def met(self, lane: int, event: int, other: int) -> bool:
        """Whether a thread comes after an event of another by barriers that need not order memory."""
        row, source = lane >> 5, other >> 5
        if row // self.order.span != source // self.order.span:
            return False
        return bool(self.reached[row, self.order.local[source]] >= event)

    def fenced(self, lane: int, event: int, other: int, whole_warp: bool) -> bool:
        """Whether a thread executed tcgen05.fence::after_thread_sync since it came after an event of another.

        whole_warp: whether all threads of its warp did, because the fence orders what its own thread does.
        """
        lanes = slice(lane & ~31, (lane | 31) + 1) if whole_warp else slice(lane, lane + 1)
        return bool(self.after[lanes, self.order.local[other >> 5]].min() >= event)

    def fence_after(self, lanes: np.ndarray, event: int) -> None:
        """Some threads executed tcgen05.fence::after_thread_sync."""
        rows, place = np.unique(lanes >> 5, return_inverse=True)
        self.after[lanes] = np.maximum(self.order.known_to(rows, event), self.reached[rows])[place]

    # ---- What passes it on, relaxed or not ----

    def reach(self, lanes) -> np.ndarray:
        """By warp of the cluster: the last events that what these threads do next comes after."""
        rows = np.unique(lanes >> 5)
        return np.maximum(self.order.known_to(rows, self.hazards.event), self.reached[rows]).max(0)

    def take(self, rows, met) -> None:
        """Some warps come after what others passed on."""
        self.reached[rows] = np.maximum(self.reached[rows], met)

    def passed(self, record, lanes) -> None:
        """Threads have seen the end of a phase of an mbarrier, perhaps by a relaxed wait."""
        first, left = int(lanes[0]), []
        for load in record.ended:
            if load.products is None:
                left.append(load)
                continue
            self.detector.tensor.observed(load, first)
            warp = self.order.local[first >> 5]
            record.met_over[warp] = record.over[warp] = self.hazards.event
        record.ended = left
        self.take(np.unique(lanes >> 5), record.met_over)
