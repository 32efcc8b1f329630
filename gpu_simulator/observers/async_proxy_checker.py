"""Hazards of mbarriers and of the async proxy: what a copy still writes or reads, who was told that it has ended.

An arrival publishes what its warp did before; a wait that finds the phase over takes that over, and with it the copies
which that phase counted. Until some thread has waited, what a copy fills may be touched by nobody; from then on it
counts as written by that thread at its wait, so that others have to wait too, or to meet that thread.

What threads wrote, a store copy reads through another proxy: on the way from the writes to the copy somebody has to
execute `fence.proxy.async`, after the writes and ordered before the copy. The same holds for the mbarrier that a copy
reports to: its init has to be fenced. PTX ISA, "Memory Consistency Model: Proxies".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.observers.access import Access, by_array
from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS, LANE_MASK
from gpu_simulator.observers.shadow_memory import FILLED, FREE, READ

FENCES = 64  # older ones count as known to everybody: a hazard may be missed for it, none is invented


class Record:
    """What is known of one mbarrier. init: event and lane.   clock: what the arrivals of this phase publish, by warp.

    over: of the phases that are over.   acquired: the last atomic read behind either.
    loads: copies that this phase counts.   ended: copies of phases that are over, for which nobody has waited yet.
    """

    def __init__(self, init: int, warps: int):
        self.init = init
        self.clock, self.over = (np.full(warps, ALWAYS, np.int64) for _ in range(2))
        self.acquired = self.acquired_over = ALWAYS
        self.met, self.met_over = (np.full(warps, ALWAYS, np.int64) for _ in range(2))  # with relaxed arrivals
        self.loads: list = []
        self.ended: list = []


class AsyncWatch:
    """Of one group of resident blocks; part of its `Watch`."""

    def __init__(self, watch):
        self.watch, self.resident, self.report, self.order = watch, watch.resident, watch.report, watch.order
        order = watch.order
        # By warp, its last event that a fence covers: anybody's, one before an init is used, one that all know of.
        self.fenced, self.init_fenced = (np.full(order.signalled.shape, ALWAYS, np.int64) for _ in range(2))
        self.settled = self.fenced.copy()
        self.fences: list = []  # the newest: (event, rows of warps, what each of them covers)
        self.flying: list = []  # loads for which nobody has waited

    # ---- mbarriers ----

    def initialised(self, k: int, lane: int, barrier) -> None:
        event = self.report.next_event(k)
        barrier.record = Record(event << LANE_BITS | (lane + self.watch.first_lane), self.order.span)

    def used(self, k: int, barrier, lanes) -> None:
        """Threads use a barrier: its init has to happen before."""
        record = barrier.record
        if record.init >> LANE_BITS <= self.order.floor:
            return
        numbers = lanes[:, None] + self.watch.first_lane
        bad = self.order.unordered(numbers, np.full(numbers.shape, record.init), True)
        if bad is None:
            return
        bad = bad[:, 0] & ~self.watch.clusters.knows_init(lanes, record.init)
        if not bad.any():
            return
        lane, site = int(lanes[np.argmax(bad)]), self.site(k)
        block = self.resident.block_of_lane
        needed = "__syncthreads()" if block[lane] == block[barrier.lane] else "barrier.cluster (arrive and wait)"
        origin = self.resident.mbarriers.origin(barrier)
        self.report.add(
            "missing wait",
            k,
            barrier.site,
            lambda: (
                f"{site}: {self.resident.name_lane(lane)} uses the mbarrier at shared address {barrier.address}, which "
                f"{origin} initialises: there is no barrier between them; it needs {needed} after the init."
            ),
        )

    def arrived(self, k: int, barrier, lanes) -> None:
        """Before the arrival counts."""
        if self.watch.tensor.between.loose:
            np.maximum(barrier.record.met, self.watch.tensor.between.reach(lanes), out=barrier.record.met)
        if "relaxed" in self.resident.program.sites[k].parts:
            return
        rows, record = np.unique(lanes >> 5), barrier.record
        np.maximum(record.clock, self.order.known_to(rows, self.report.event).max(0), out=record.clock)
        record.acquired = max(record.acquired, int(self.order.acquired[rows].max()))

    def completed(self, barrier) -> None:
        record = barrier.record
        np.maximum(record.over, record.clock, out=record.over)
        record.acquired_over = max(record.acquired_over, record.acquired)
        np.maximum(record.met_over, record.met, out=record.met_over)
        record.ended += record.loads
        record.loads = []

    def acquired(self, k: int, barrier, lanes) -> None:
        """Threads have seen the end of the phase before the present one."""
        if self.watch.tensor.between.loose:
            self.watch.tensor.between.passed(barrier.record, lanes)
        if "relaxed" in self.resident.program.sites[k].parts:
            return
        record, order = barrier.record, self.order
        rows = np.unique(lanes >> 5)
        if record.ended:
            first = int(lanes[0])
            for load in record.ended:
                self._written(load, first)
            record.ended = []
            warp = order.local[first >> 5]
            record.over[warp] = max(record.over[warp], self.report.event)
        own = order.known[rows, order.local[rows]]
        order.known[rows] = np.maximum(order.known[rows], record.over)
        order.known[rows, order.local[rows]] = own
        order.acquired[rows] = np.maximum(order.acquired[rows], record.acquired_over)
        order.synced[lanes] = np.maximum(order.synced[lanes], record.over[order.local[lanes >> 5]])

    def _written(self, load, lane: int) -> None:
        """A load counts as written by the lane that waited."""
        if load.products is not None:
            self.watch.tensor.observed(load, lane)
            return
        shadow, event = self.watch.shared, self.report.next_event(load.k)
        cells = shadow.cells(load.index, load.width, len(load.index))
        shadow.pending[cells] = FREE
        shadow.written[cells] = np.int64(event) << LANE_BITS | (lane + self.watch.first_lane)
        if load.source is not None:
            self._read(load.k, lane, load.source)
            block = int(load.source[0]) * 16 // self.resident.shared_stride
            if block != self.resident.block_of_lane[lane]:
                self.watch.clusters.uses(load.k, np.array([lane]), np.array([block]))
        self.flying = [other for other in self.flying if other is not load]

    # ---- Copies into shared memory ----

    def load(self, load, barrier) -> None:
        """A copy was issued: the threads that used its destination have to be done with it."""
        k, lane = load.k, np.array([load.lane])
        self.used(k, barrier, lane)
        if load.proxy:
            self._fence_of_init(k, load.lane, barrier)
        if load.source is not None:
            self.store(k, load.lane, load.source)
        access = self._access(k, "overwrites", load.lane, load.index, load.width)
        watch, last = self.watch, self.watch.shared.written[access.cells]
        if self.report.atomic[k]:  # red.async: in no order among atomics
            last = np.where(self.report.atomic[self.report.site_of[last >> LANE_BITS]], 0, last)
        if not last.any() or not watch.check_shared(access, None):
            watch.check(access, last, "wrote")
        watch.check_readers(access)
        if load.proxy:
            self._generic_writes(access, last, "overwrites")
        event = self.report.next_event(k)
        watch.shared.written[access.cells] = np.int64(event) << LANE_BITS | access.lanes
        watch.shared.pending[access.cells] = FILLED
        self.flying.append(load)

    def landed(self, load, barrier) -> None:
        if barrier is not None:
            barrier.record.loads.append(load)
            if load.clock is not None:
                np.maximum(barrier.record.clock, load.clock, out=barrier.record.clock)

    def copies(self, load) -> None:
        """The cp.async of a thread are now waited for through an mbarrier."""
        watch, left, index = self.watch, [], []
        for lanes, at, width, group, k in watch.copies:
            mine = lanes == load.lane
            if mine.any():
                index.append((at[mine] * width >> 4).astype(np.int64) if width == 16 else at[mine] * width // 16)
                load.k = k
            if not mine.all():
                left.append((lanes[~mine], at[~mine], width, group[~mine], k))
        watch.copies = left
        if index:
            load.index = np.unique(np.concatenate(index))
            self.flying.append(load)

    def filling(self, cell: int):
        """The load that fills a cell of shared memory, or copies from it to another block.

        None for copies that no mbarrier waits for.
        """
        cells = self.watch.shared.cells
        for load in self.flying:
            if (cells(load.index, load.width, len(load.index)) == cell).any():
                return load
            if load.source is not None and (cells(load.source, 16, len(load.source)) == cell).any():
                return load
        return None

    def _fence_of_init(self, k: int, lane: int, barrier) -> None:
        event, thread = barrier.record.init >> LANE_BITS, barrier.record.init & LANE_MASK
        warp = (thread >> 5) - self.order.first
        cluster, local = divmod(warp, self.order.span)
        if max(self.fenced[cluster, local], self.init_fenced[cluster, local]) < event:
            site, origin = self.site(k), self.resident.mbarriers.origin(barrier)
            self.report.add(
                "missing fence",
                k,
                barrier.site,
                lambda: (
                    f"{site}: {self.resident.name_lane(lane)} lets a copy report to the mbarrier at shared address "
                    f"{barrier.address}, but no fence follows its init by {origin}: it needs "
                    "fence.mbarrier_init.release.cluster or fence.proxy.async, then the barrier."
                ),
            )

    # ---- Copies out of shared memory ----

    def store(self, k: int, lane: int, index) -> None:
        """A copy was issued that reads shared memory through the async proxy."""
        access, watch = self._access(k, "reads", lane, index), self.watch
        last = watch.shared.written[access.cells]
        if not watch.check_shared(access, last):
            watch.check(access, last, "wrote")
        self._generic_writes(access, last, "reads")
        free = watch.shared.pending[access.cells] == FREE
        watch.shared.pending[access.cells[free]] = READ

    def stored(self, store) -> None:
        """Its thread has waited until shared memory was read."""
        self._read(store.k, store.lane, store.index)

    def _read(self, k: int, lane: int, index) -> None:
        """What a copy has read counts as read by the lane that knows it."""
        access, shadow = self._access(k, "reads", lane, index), self.watch.shared
        held = shadow.pending[access.cells] == READ
        shadow.pending[access.cells[held]] = FREE
        event = self.report.next_event(k)
        shadow.note_read(access.cells, access.lanes, np.int64(event) << LANE_BITS | access.lanes)

    def _generic_writes(self, access: Access, last, verb: str) -> None:
        """Writes of threads that no fence.proxy.async follows."""
        bad = self.unfenced(access, last)
        if bad.any():
            at, column = np.argwhere(bad)[0]
            other = int(self.report.site_of[int(last[at, column]) >> LANE_BITS])
            words = self.watch.words(access, at, column)
            self.report.add(
                "missing fence",
                access.k,
                other,
                lambda: (
                    f"{words.here(access.k)} lets a copy through the async proxy {verb.removesuffix('s')} {words.place}, "
                    f"which was written at {words.site(other)}: the threads that wrote need fence.proxy.async after "
                    "their stores and before the barrier."
                ),
            )

    def unfenced(self, access: Access, last, readers=None) -> np.ndarray:
        """Which of the `last` writes (as `access.cells`) threads made, and no fence.proxy.async leads to the readers.

        readers: lanes of the launch that all have to know of it; those of the access unless given.
        """
        event, lanes = last >> LANE_BITS, last & LANE_MASK
        row = np.where(last == 0, 0, (lanes >> 5) - self.order.first)
        bad = (event > self.fenced.reshape(-1)[row]) & (last != 0)
        generic = ~self.report.bulk[self.report.site_of[event]] & (self.watch.shared.pending[access.cells] == FREE)
        self._settle()
        doubtful = ~bad & generic & (event > self.settled.reshape(-1)[row])
        if doubtful.any():
            writes, at = np.unique(np.stack([row[doubtful], event[doubtful]]), axis=1, return_inverse=True)
            readers = np.unique(access.lanes) if readers is None else readers
            lost = [any(not self._led_to(int(lane), *write) for lane in readers) for write in writes.T.tolist()]
            bad[doubtful] = np.array(lost)[at.reshape(-1)]
        return bad & generic

    def _led_to(self, reader: int, row: int, event: int) -> bool:
        """Does a fence that covers this event of a warp come before what the reader, a lane, does now?"""
        cluster, local = divmod(row, self.order.span)
        mine = (reader >> 5) - self.order.first
        for stamp, rows, covers in reversed(self.fences):
            for fence in rows[(rows // self.order.span == cluster) & (covers[:, local] >= event)].tolist():
                lane = (fence + self.order.first) * 32
                before = np.array([[stamp << LANE_BITS | lane]])
                if fence == mine or self.order.unordered(np.array([[reader]]), before, True) is None:
                    return True
        return False

    def proxy_fence(self, L, k: int, mask, init_only: bool) -> None:
        positions = np.arange(L.n) if mask is None else np.flatnonzero(mask)
        if not len(positions):
            return
        rows, event = np.unique(L.lane_numbers()[positions] >> 5), self.report.next_event(k)
        covers = self.order.known_to(rows, event)
        np.maximum.at(self.init_fenced if init_only else self.fenced, rows // self.order.span, covers)
        if not init_only:
            self.fences.append((event, rows, covers))

    def _settle(self) -> None:
        """Fences that everybody knows of are summed up; so are, for the sake of time, those of long ago."""
        while self.fences and (self.fences[0][0] <= self.order.floor or len(self.fences) > FENCES):
            _, rows, covers = self.fences.pop(0)
            np.maximum.at(self.settled, rows // self.order.span, covers)

    # ---- Global memory and the end ----

    def outside(self, k: int, lane: int, place, verb: str) -> None:
        """What a copy reads or writes in global memory."""
        if not place.index.size:
            return
        watch, event = self.watch, self.report.next_event(k)
        memory = self.resident.memory
        for number, positions, inside in by_array(memory, place.index, place.width):
            shadow = self.report.array(number)
            count = len(place.index) if positions is None else len(positions)
            lanes = np.full((count, 1), lane + watch.first_lane)
            cells = shadow.cells(inside, place.width, count)
            access = Access(k, verb, shadow, memory.names[number], lanes, cells)
            last = shadow.written[cells]
            if self.report.atomic[k]:  # a reduction: in no order among others
                last = np.where(self.report.atomic[self.report.site_of[last >> LANE_BITS]], 0, last)
            watch.check(access, last, "wrote")
            stamp = np.int64(event) << LANE_BITS | lanes
            if verb == "writes":
                watch.check_readers(access)
                shadow.written[cells] = stamp
            else:
                shadow.note_read(cells, lanes, stamp)

    def ended(self, stores) -> None:
        """The blocks have ended. Copies that are still in flight use shared memory that is no longer theirs."""
        for copies, what in (
            (self.flying, "no thread has waited for the mbarrier of this copy"),
            (stores, "no wait_group has made sure that this copy has read its shared memory"),
        ):
            for copy in copies:
                self.report.add(
                    "missing wait",
                    copy.k,
                    -1,
                    lambda copy=copy, what=what: (
                        f"{self.site(copy.k)}: {self.resident.name_lane(copy.lane)}'s block ends, and {what}."
                    ),
                )

    # ---- Pieces ----

    def site(self, k: int) -> str:
        return self.resident.launch.describe(self.resident.program.sites[k])

    def _access(self, k: int, verb: str, lane: int, index, width: int = 16) -> Access:
        lanes, shared = np.full((len(index), 1), lane + self.watch.first_lane), self.watch.shared
        return Access(k, verb, shared, None, lanes, shared.cells(index, width, len(index)))
