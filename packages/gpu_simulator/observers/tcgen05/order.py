"""The order of tcgen05 accesses of different threads, and the fences that it needs.

In addition to memory order (`happens_before`), relaxed barriers order execution alone, which is enough for tcgen05
accesses if tcgen05.fence::before_thread_sync follows them. PTX ISA, "tcgen05: Specialized Inter-thread
Synchronization".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS
from gpu_simulator.observers.tcgen05.accesses import Touch

PIPELINED = {("cp", "mma"), ("shift", "mma"), ("mma", "shift")}


def follows(old: Touch, new: Touch) -> bool:
    """Whether PTX executes two operations of one thread in the order of their issue, without a wait.

    Two products follow each other if they have the same accumulator, shape and kind. All other pairs that are not here,
    such as a copy after a product or after a copy, may be executed in any order.
    PTX ISA, "Pipelined tcgen05 Instructions".
    """
    kinds = old.kind, new.kind
    if old.warp != new.warp:
        return False
    if kinds == ("mma", "mma"):
        return old.product.key == new.product.key
    return kinds in PIPELINED or (kinds == ("shift", "cp") and new.product.shape == "4x256b")


def in_order(old: Touch, new: Touch, between) -> bool:
    """Whether two operations are executed in order because each `follows` the one before, directly or by others.

    between: operations of the thread of the older one, in the order of their issue; those that are not between the two
    are ignored.
    """
    chain = {old.kind: [old]}
    for touch in between:
        if not old.issued < touch.issued < new.issued or any(_same(touch, one) for one in chain.get(touch.kind, ())):
            continue
        if any(follows(one, touch) for ones in chain.values() for one in ones):
            chain.setdefault(touch.kind, []).append(touch)
    return any(follows(one, new) for ones in chain.values() for one in ones)


def _same(one: Touch, other: Touch) -> bool:
    """Whether the same operations follow both."""
    return one.kind != "mma" or one.product.key == other.product.key


class Tcgen05Order:
    """The order within one group of resident blocks, whose lanes are numbered from 0.

    reached[w, u]: the last event of warp u of the same cluster that is ordered before warp w, by relaxed barriers too.
    after[lane, u]: that event when the lane last executed tcgen05.fence::after_thread_sync.
    loose: whether the kernel has relaxed operations on mbarriers.
    """

    def __init__(self, detector):
        self.detector, self.order, self.hazards = detector, detector.order, detector.hazards
        warps, others = detector.order.known.shape
        self.reached, self.after = (np.full((rows, others), ALWAYS, np.int64) for rows in (warps, 32 * warps))
        self.loose = any(
            item.family == "mbarrier" and "relaxed" in item.parts for item in detector.resident.program.sites
        )

    def told(self, lane: int, event: int, other: int) -> bool:
        """Whether an event of another thread happens before what a thread does now, in the order of memory."""
        row, source, order = lane >> 5, other >> 5, self.order
        if row == source:
            return True  # either the whole warp has waited, or the thread itself
        if row // order.span == source // order.span and order.known[row, order.local[source]] >= event:
            return True
        first = self.detector.first_lane
        before = np.full((1, 1), event << LANE_BITS | (other + first), np.int64)
        return order.unordered(np.full((1, 1), lane + first), before, True) is None

    def met(self, lane: int, event: int, other: int) -> bool:
        """Whether an event of another thread is ordered before a thread by barriers, including relaxed ones."""
        row, source = lane >> 5, other >> 5
        if row // self.order.span != source // self.order.span:
            return False
        return bool(self.reached[row, self.order.local[source]] >= event)

    def fenced(self, lane: int, event: int, other: int, whole_warp: bool) -> bool:
        """Whether a thread executed tcgen05.fence::after_thread_sync after it was ordered after an event of another.

        whole_warp: whether all threads of its warp have, because the fence orders only its own thread's accesses.
        """
        lanes = slice(lane & ~31, (lane | 31) + 1) if whole_warp else slice(lane, lane + 1)
        return bool(self.after[lanes, self.order.local[other >> 5]].min() >= event)

    def fence_after(self, lanes: np.ndarray, event: int) -> None:
        """Some threads execute tcgen05.fence::after_thread_sync."""
        rows, place = np.unique(lanes >> 5, return_inverse=True)
        self.after[lanes] = np.maximum(self.order.known_to(rows, event), self.reached[rows])[place]

    # ---- Synchronisation, relaxed or not ----

    def reach(self, lanes) -> np.ndarray:
        """(warps of the cluster,) the last events that are ordered before what these threads do next."""
        rows = np.unique(lanes >> 5)
        return np.maximum(self.order.known_to(rows, self.hazards.event), self.reached[rows]).max(0)

    def take(self, rows, met) -> None:
        """Some warps acquire what others published. met: as from `reach`."""
        self.reached[rows] = np.maximum(self.reached[rows], met)

    def passed(self, record, lanes) -> None:
        """Threads have waited for a phase of an mbarrier, perhaps by a relaxed wait."""
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
