"""Finds missing proxy fences between writes to shared memory by threads and its use by copies or tensor cores.

Threads write through the generic proxy; TMA, wgmma and tcgen05.mma read and write through the async proxy. Between the
two some thread has to execute `fence.proxy.async`, after the writes and ordered before the operation that uses them.
If only some lanes of a warp execute it, it covers their own writes and what the warp had done when they last met.
PTX ISA, "Memory Consistency Model: Proxies".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.observers.access import Access
from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS, LANE_MASK
from gpu_simulator.observers.proxies.global_proxy_fences import GlobalProxyFences
from gpu_simulator.observers.severities import ERROR, SUSPICIOUS
from gpu_simulator.observers.shadow_memory import FREE

FENCES = 64  # older ones count as known to all threads, which may miss hazards but reports no false ones


class ProxyFences:
    """The fences of one group of resident blocks, and the check of accesses through the async proxy.

    fenced, init_fenced: (clusters, warps of a cluster), the last event of each warp that some fence.proxy.async covers,
    or some fence.mbarrier_init.   settled: the same for those fence.proxy.async that all threads know of.
    by_lane, settled_by_lane: (lanes,) the same for each lane's own events, by fences of a part of its warp; None before
    the first of these.
    fences: the newest, each (event, resident warps that executed it, the last events that each of them covers, the
    lanes that executed it in warps of which only a part did or None).   newest: by cluster, the event of the last one,
    and the last events that it covers.
    """

    def __init__(self, detector):
        self.detector, self.resident = detector, detector.resident
        self.hazards, self.order = detector.hazards, detector.order
        shape = (self.resident.warps // self.order.span, self.order.span)
        self.fenced, self.init_fenced = (np.full(shape, ALWAYS, np.int64) for _ in range(2))
        self.settled = self.fenced.copy()
        self.by_lane = self.settled_by_lane = None
        self.fences: list = []
        self.newest: dict[int, tuple] = {}
        self.of_global = GlobalProxyFences(detector)

    def proxy_fence(self, lanes, site: int, mask, init_only: bool) -> None:
        """Lanes execute a fence. init_only: it is fence.mbarrier_init, which covers mbarrier inits alone."""
        positions = lanes.positions(mask)
        if not len(positions):
            return
        numbers, event = lanes.lane_numbers()[positions], self.hazards.next_event(site)
        parts = set(self.resident.program.sites[site].parts)
        rows, count = np.unique(numbers >> 5, return_counts=True)
        covers, some = self.order.known_to(rows, event), None
        if not init_only and (count < 32).any():
            some = numbers[np.repeat(count, count) < 32]
            self._covered_by_some(covers, rows, some)
        if not init_only and not {"shared__cta", "shared__cluster"} & parts:
            self.of_global.executed(rows, covers, some, event)
        if "global" in parts:
            return
        if some is not None:
            if self.by_lane is None:
                self.by_lane, self.settled_by_lane = (np.full(self.resident.lanes, ALWAYS, np.int64) for _ in range(2))
            self.by_lane[some] = event
        np.maximum.at(self.init_fenced if init_only else self.fenced, rows // self.order.span, covers)
        if not init_only:
            self.fences.append((event, rows, covers, some))
            self.newest.update(zip((rows // self.order.span).tolist(), ((event, one) for one in covers), strict=True))

    def _covered_by_some(self, covers, rows, some) -> None:
        """Set what a fence by a part of a warp covers of that warp. some: the lanes that execute it, ascending."""
        order = self.order
        warps = np.unique(some >> 5)
        met = np.full(self.resident.warps, order.floor)
        np.maximum.at(met, some >> 5, order.meetings.latest(some))
        covers[np.searchsorted(rows, warps), order.local[warps]] = met[warps]

    def covers_init(self, init: int) -> bool:
        """Whether a fence of either kind follows the init of an mbarrier. init: `event << 32 | lane`."""
        lane = (init & LANE_MASK) - self.detector.first_lane
        cluster, local = divmod(lane >> 5, self.order.span)
        own = ALWAYS if self.by_lane is None else self.by_lane[lane]
        return max(self.fenced[cluster, local], self.init_fenced[cluster, local], own) >= init >> LANE_BITS

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
        cluster, local = divmod(((stamp & LANE_MASK) - self.detector.first_lane) >> 5, self.order.span)
        fence, covers = self.newest.get(cluster, (0, None))
        if fence <= stamp >> LANE_BITS or covers[local] >= stamp >> LANE_BITS:  # it is earlier, or covers the store
            fence = 0
        need = "the threads that wrote need fence.proxy.async after their stores and before the barrier."
        if fence:
            need = (
                f"the fence at {words.site(int(self.hazards.site_of[fence]))} orders the stores of its own thread; "
                "those of the others need one each, or a barrier before it."
            )
        if say := self.hazards.new("missing fence", access.site, other, severity=SUSPICIOUS if fence else ERROR):
            say(
                f"{words.here(access.site)} {does.format(place=words.place)}, which {written} at "
                f"{words.site(other)}: {need}"
            )

    def unfenced(self, access: Access, last, readers=None) -> np.ndarray:
        """Which of the `last` writes threads made without a fence.proxy.async that happens before the readers: Boolean.

        last: shaped like `access.cells`.   readers: lanes of the launch that all have to be ordered after the fence; by
        default those of the access.
        """
        event, lanes = last >> LANE_BITS, np.where(last == 0, 0, (last & LANE_MASK) - self.detector.first_lane)
        row = lanes >> 5
        bad = (event > self._covered(self.fenced, self.by_lane, lanes)) & (last != 0)
        free = self.detector.shared.pending[access.cells] == FREE
        generic = ~self.hazards.bulk[self.hazards.site_of[event]] & free
        self._settle()
        doubtful = ~bad & generic & (event > self._covered(self.settled, self.settled_by_lane, lanes))
        if doubtful.any():
            readers = np.unique(access.lanes) if readers is None else readers
            bad[doubtful] = self._lost(row[doubtful], event[doubtful], readers, self._led_to)
            lost = doubtful & bad
            if lost.any() and any(fence[3] is not None for fence in self.fences):
                bad[lost] = self._lost(lanes[lost], event[lost], readers, self._led_to_by_part)
        return bad & generic

    @staticmethod
    def _covered(fenced, by_lane, lanes) -> np.ndarray:
        """The last events of each of the lanes that fences cover. fenced: by warp.   by_lane: of the lane alone."""
        covered = fenced.reshape(-1)[lanes >> 5]
        return covered if by_lane is None else np.maximum(covered, by_lane[lanes])

    @staticmethod
    def _lost(writers, events, readers, led_to) -> np.ndarray:
        """For each write, whether no fence leads to one of the readers. writers: warps or lanes, as `led_to` wants."""
        writes, at = np.unique(np.stack([writers, events]), axis=1, return_inverse=True)
        lost = [any(not led_to(int(lane), *write) for lane in readers) for write in writes.T.tolist()]
        return np.array(lost)[at.reshape(-1)]

    def _led_to(self, reader: int, row: int, event: int) -> bool:
        """Whether a fence that covers this event of a warp happens before what the reader (a lane) does now."""
        cluster, local = divmod(row, self.order.span)
        mine = (reader >> 5) - self.order.first
        for stamp, rows, covers, some in reversed(self.fences):
            for fence in rows[(rows // self.order.span == cluster) & (covers[:, local] >= event)].tolist():
                part = () if some is None else some[some >> 5 == fence]
                lanes = part if len(part) else np.array([fence * 32])
                if (fence == mine and not len(part)) or self._ordered(reader, stamp, lanes):
                    return True
        return False

    def _led_to_by_part(self, reader: int, lane: int, event: int) -> bool:
        """Whether a fence by a part of its warp covers this event of a lane, and happens before what a reader does."""
        return any(
            some is not None and stamp >= event and lane in some and self._ordered(reader, stamp, np.array([lane]))
            for stamp, _, _, some in reversed(self.fences)
        )

    def _ordered(self, reader: int, stamp: int, lanes: np.ndarray) -> bool:
        """Whether one of some lanes' events of that number happens before what the reader does now."""
        before = np.int64(stamp) << LANE_BITS | (lanes + self.detector.first_lane)[None]
        bad = self.order.unordered(np.array([[reader]]), before, True)
        return bad is None or not bad.all()

    def _settle(self) -> None:
        """Merge fences that all threads know of into `settled`, and the oldest ones as well, to bound the time."""
        while self.fences and (self.fences[0][0] <= self.order.floor or len(self.fences) > FENCES):
            event, rows, covers, some = self.fences.pop(0)
            np.maximum.at(self.settled, rows // self.order.span, covers)
            if some is not None:
                self.settled_by_lane[some] = event
