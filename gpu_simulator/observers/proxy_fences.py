"""Finds missing proxy fences between writes to shared memory by threads and its use by copies or tensor cores.

Threads write through the generic proxy; TMA, wgmma and tcgen05.mma read and write through the async proxy. Between the
two some thread has to execute `fence.proxy.async`, after the writes and ordered before the operation that uses them.
PTX ISA, "Memory Consistency Model: Proxies".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.observers.access import Access
from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS, LANE_MASK
from gpu_simulator.observers.shadow_memory import FREE

FENCES = 64  # older ones count as known to all threads, which may miss hazards but reports no false ones


class ProxyFences:
    """The fences of one group of resident blocks, and the check of accesses through the async proxy.

    fenced, init_fenced: (clusters, warps of a cluster), the last event of each warp that some fence.proxy.async covers,
    or some fence.mbarrier_init.   settled: the same for those fence.proxy.async that all threads know of.
    fences: the newest, each (event, resident warps that executed it, the last events that each of them covers).
    """

    def __init__(self, detector):
        self.detector, self.resident = detector, detector.resident
        self.hazards, self.order = detector.hazards, detector.order
        self.fenced, self.init_fenced = (np.full(self.order.signalled.shape, ALWAYS, np.int64) for _ in range(2))
        self.settled = self.fenced.copy()
        self.fences: list = []

    def proxy_fence(self, lanes, site: int, mask, init_only: bool) -> None:
        """Lanes execute a fence. init_only: it is fence.mbarrier_init, which covers mbarrier inits alone."""
        positions = lanes.positions(mask)
        if not len(positions):
            return
        rows, event = np.unique(lanes.lane_numbers()[positions] >> 5), self.hazards.next_event(site)
        covers = self.order.known_to(rows, event)
        np.maximum.at(self.init_fenced if init_only else self.fenced, rows // self.order.span, covers)
        if not init_only:
            self.fences.append((event, rows, covers))

    def covers_init(self, init: int) -> bool:
        """Whether a fence of either kind follows the init of an mbarrier. init: `event << 32 | lane`."""
        warp = ((init & LANE_MASK) >> 5) - self.order.first
        cluster, local = divmod(warp, self.order.span)
        return max(self.fenced[cluster, local], self.init_fenced[cluster, local]) >= init >> LANE_BITS

    def check(self, access: Access, last, does: str, readers=None, names_writer: bool = False) -> None:
        """Report a missing fence if the async proxy uses what threads wrote and no fence covers.

        last: the last writes, shaped like `access.cells`.   does: such as "reads {place} through the async proxy".
        readers: as for `unfenced`.   names_writer: whether the message names the thread that wrote.
        """
        bad = self.unfenced(access, last, readers)
        if not bad.any():
            return
        at, column = np.argwhere(bad)[0]
        stamp = int(last[at, column])
        other, words = int(self.hazards.site_of[stamp >> LANE_BITS]), self.detector.words(access, at, column)
        written = "was written"
        if names_writer:
            writer = self.resident.name_lane((stamp & LANE_MASK) - self.detector.first_lane).split("), ", 1)[1]
            written = f"{writer} wrote"
        self.hazards.add(
            "missing fence",
            access.site,
            other,
            lambda: (
                f"{words.here(access.site)} {does.format(place=words.place)}, which {written} at {words.site(other)}: "
                "the threads that wrote need fence.proxy.async after their stores and before the barrier."
            ),
        )

    def unfenced(self, access: Access, last, readers=None) -> np.ndarray:
        """Which of the `last` writes threads made without a fence.proxy.async that happens before the readers: Boolean.

        last: shaped like `access.cells`.   readers: lanes of the launch that all have to be ordered after the fence; by
        default those of the access.
        """
        event, lanes = last >> LANE_BITS, last & LANE_MASK
        row = np.where(last == 0, 0, (lanes >> 5) - self.order.first)
        bad = (event > self.fenced.reshape(-1)[row]) & (last != 0)
        free = self.detector.shared.pending[access.cells] == FREE
        generic = ~self.hazards.bulk[self.hazards.site_of[event]] & free
        self._settle()
        doubtful = ~bad & generic & (event > self.settled.reshape(-1)[row])
        if doubtful.any():
            writes, at = np.unique(np.stack([row[doubtful], event[doubtful]]), axis=1, return_inverse=True)
            readers = np.unique(access.lanes) if readers is None else readers
            lost = [any(not self._led_to(int(lane), *write) for lane in readers) for write in writes.T.tolist()]
            bad[doubtful] = np.array(lost)[at.reshape(-1)]
        return bad & generic

    def _led_to(self, reader: int, row: int, event: int) -> bool:
        """Whether a fence that covers this event of a warp happens before what the reader (a lane) does now."""
        cluster, local = divmod(row, self.order.span)
        mine = (reader >> 5) - self.order.first
        for stamp, rows, covers in reversed(self.fences):
            for fence in rows[(rows // self.order.span == cluster) & (covers[:, local] >= event)].tolist():
                lane = (fence + self.order.first) * 32
                before = np.array([[stamp << LANE_BITS | lane]])
                if fence == mine or self.order.unordered(np.array([[reader]]), before, True) is None:
                    return True
        return False

    def _settle(self) -> None:
        """Merge fences that all threads know of into `settled`, and the oldest ones as well, to bound the time."""
        while self.fences and (self.fences[0][0] <= self.order.floor or len(self.fences) > FENCES):
            _, rows, covers = self.fences.pop(0)
            np.maximum.at(self.settled, rows // self.order.span, covers)
