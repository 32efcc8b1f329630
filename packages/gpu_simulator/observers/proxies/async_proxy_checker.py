"""Finds hazards of mbarriers and of the async proxy: accesses to memory that a copy still writes or reads.

An arrival publishes what its warp did before. A wait that succeeds acquires what the phase published, and the copies
that the phase counted. Until some thread has waited, no thread may access the destination of a copy. From then on the
copy counts as a write by that thread at its wait, so other threads have to wait too, or to synchronise with it.

A copy uses what threads wrote through another proxy, so a fence is needed (`proxy_fences`). The same holds for the
mbarrier that a copy reports to: its init has to be fenced. PTX ISA, "Memory Consistency Model: Proxies".
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gpu_simulator.machine.asynchronous.transfers import Load
from gpu_simulator.machine.mbarriers import Mbarrier
from gpu_simulator.observers.access import Access, by_array
from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS
from gpu_simulator.observers.mbarrier_users import MbarrierUsers
from gpu_simulator.observers.mbarrier_waiters import MbarrierWaiters
from gpu_simulator.observers.publications import NOTHING, union
from gpu_simulator.observers.shadow_memory import FILLED, FREE, READ


class Record:
    """The state of one mbarrier. A clock is a vector clock: the last event of each warp of the cluster.

    init: `event << 32 | lane` of its init.   clock: published by the arrivals of the current phase.
    over: published by completed phases.   told, told_over: what those who arrived have from strong accesses, likewise.
    met, met_over: the same clocks with relaxed arrivals, which order tcgen05 (`tcgen05.order`).
    loads: copies that the current phase counts.   ended: copies of completed phases for which no thread has waited yet.
    waits: by resident warp, its last wait that is over: (phase, event, site, lane).
    """

    def __init__(self, init: int, warps: int):
        self.init = init
        self.clock, self.over = (np.full(warps, ALWAYS, np.int64) for _ in range(2))
        self.told = self.told_over = NOTHING
        self.met, self.met_over = (np.full(warps, ALWAYS, np.int64) for _ in range(2))
        self.loads: list = []
        self.ended: list = []
        self.waits: dict[int, tuple[int, int, int, int]] = {}


class AsyncProxyChecker:
    """Part of the `RaceDetector` of one group of resident blocks."""

    def __init__(self, detector):
        self.detector, self.resident = detector, detector.resident
        self.hazards, self.order = detector.hazards, detector.order
        self.fences, self.users, self.waiters = detector.fences, MbarrierUsers(detector), MbarrierWaiters(detector)
        self.records: dict[Mbarrier, Record] = {}
        self.clocks: dict[Load, np.ndarray] = {}  # tcgen05.commit -> vector clock of its thread
        self.reported: dict[Load, Load] = {}  # cp.async.mbarrier.arrive -> the same with the cells that its copies fill
        self.flying: list[Load] = []  # loads for which no thread has waited
        self._places: dict[int, Mbarrier] | None = None  # by first byte, if none has come or gone since

    # ---- mbarriers ----

    def mbarrier_initialised(self, site: int, lane: int, barrier) -> None:
        event, self._places = self.hazards.next_event(site), None
        self.records[barrier] = Record(event << LANE_BITS | (lane + self.detector.first_lane), self.order.span)

    def mbarrier_replaced(self, site: int, lane: int, barrier) -> None:
        """Report an mbarrier that is initialised again: PTX ISA, "mbarrier.init", leaves open what happens then."""
        resident = self.resident
        self.users.forget(barrier)
        del self.records[barrier]
        self._places = None
        if say := self.hazards.new("initialised again", site, barrier.site):
            say(
                f"{resident.describe(site)}: {resident.name_lane(lane)} initialises the mbarrier at shared address "
                f"{barrier.address}, which {resident.mbarriers.origin(barrier)} initialised already. What happens then "
                "is undefined: use the mbarrier as it is, or invalidate it first with mbarrier.inval."
            )

    def mbarrier_invalidated(self, site: int, lane: int, barrier) -> None:
        self.after_init(site, barrier, np.array([lane]))
        self.users.invalidated(site, lane, barrier, self.records.pop(barrier))
        self._places = None

    def mbarrier_used(self, site: int, barrier, numbers) -> None:
        self.after_init(site, barrier, numbers)
        self.users.used(site, barrier, numbers)

    def after_init(self, site: int, barrier, numbers) -> None:
        """Report threads that use an mbarrier if its init does not happen before."""
        record = self.records[barrier]
        if record.init >> LANE_BITS <= self.order.floor:
            return
        threads = numbers[:, None] + self.detector.first_lane
        bad = self.order.unordered(threads, np.full(threads.shape, record.init), True)
        if bad is None:
            return
        bad = bad[:, 0] & ~self.detector.clusters.knows_init(numbers, record.init)
        if not bad.any():
            return
        lane, where = int(numbers[np.argmax(bad)]), self.resident.describe(site)
        block = self.resident.block_of_lane
        needed = "__syncthreads()" if block[lane] == block[barrier.lane] else "barrier.cluster (arrive and wait)"
        origin = self.resident.mbarriers.origin(barrier)
        if say := self.hazards.new("missing wait", site, barrier.site):
            say(
                f"{where}: {self.resident.name_lane(lane)} uses the mbarrier at shared address {barrier.address}, "
                f"which {origin} initialises: there is no barrier between them; it needs {needed} after the init."
            )

    def over_mbarrier(self, access: Access) -> None:
        """Report a store to the bytes of an mbarrier. PTX ISA, "mbarrier.inval": it has to be invalidated before."""
        if not self.records:
            return
        if self._places is None:
            stride = self.resident.shared_stride
            self._places = {barrier.key[0] * stride + barrier.address: barrier for barrier in self.records}
            self._starts = np.array(sorted(self._places))
        cell = access.shadow.cell
        starts = access.cells * cell
        before = self._starts[np.searchsorted(self._starts, starts + cell - 1, side="right") - 1]
        found = np.argwhere((before < starts + cell) & (before + 7 >= starts))
        if len(found):
            row, column = found[0].tolist()
            self._over_mbarrier(access, row, column, self._places[int(before[row, column])])

    def _over_mbarrier(self, access: Access, row: int, column: int, barrier) -> None:
        words, origin = self.detector.words(access, row, column), self.resident.mbarriers.origin(barrier)
        if say := self.hazards.new("missing wait", access.site, barrier.site):
            say(
                f"{words.here(access.site)} {access.verb} {words.place}, which belongs to the mbarrier at shared "
                f"address {barrier.address} that {origin} initialised: its memory may only be used for something else "
                "after mbarrier.inval."
            )

    def mbarrier_arrives(self, site: int, barrier, numbers) -> None:
        """Publish what the warps did before they arrive; called before the arrival counts."""
        if self.detector.tensor.between.loose:
            met = self.records[barrier].met
            np.maximum(met, self.detector.tensor.between.reach(numbers), out=met)
        if "relaxed" in self.resident.program.sites[site].parts:
            return
        record = self.records[barrier]
        _, clocks, single = self.order.known_to_lanes(numbers, self.hazards.event)
        np.maximum(record.clock, clocks.max(0), out=record.clock)
        record.told = union([record.told, self.order.told_by(numbers, single)])

    def mbarrier_completed(self, barrier) -> None:
        record = self.records[barrier]
        np.maximum(record.over, record.clock, out=record.over)
        record.told_over = union([record.told_over, record.told])
        np.maximum(record.met_over, record.met, out=record.met_over)
        record.ended += record.loads
        record.loads = []
        self.waiters.completed(barrier, record)

    def mbarrier_passed(self, site: int, barrier, numbers) -> None:
        """Threads have waited for the phase before the current one."""
        if site in self.hazards.accesses.ignored:
            return  # they would go on as well if it were not complete
        self._acquire(site, self.records[barrier], numbers)
        self.waiters.over(site, barrier, self.records[barrier], numbers)
        self.users.used(site, barrier, numbers)  # after the acquire, because a lane of the same warp may still wait

    def _acquire(self, site: int, record, numbers) -> None:
        """Let threads that have waited for a phase acquire what it published."""
        if self.detector.tensor.between.loose:
            self.detector.tensor.between.passed(record, numbers)
        if "relaxed" in self.resident.program.sites[site].parts:
            return
        order, rows = self.order, np.unique(numbers >> 5)
        if record.ended:
            first = int(numbers[0])
            for load in record.ended:
                self._written(load, first)
            record.ended = []
            warp = order.local[first >> 5]
            record.over[warp] = max(record.over[warp], self.hazards.event)
        own = order.known[rows, order.local[rows]]
        order.known[rows] = np.maximum(order.known[rows], record.over)
        order.known[rows, order.local[rows]] = own
        order.take(numbers, record.told_over)
        order.synced[numbers] = np.maximum(order.synced[numbers], record.over[order.local[numbers >> 5]])

    def _written(self, load, lane: int) -> None:
        """Count a load as a write by the lane that waited for it."""
        if load.products is not None:
            self.detector.tensor.observed(load, lane)
            return
        shadow, event = self.detector.shared, self.hazards.next_event(load.site)
        cells = shadow.cells(load.index, load.width, len(load.index))
        shadow.pending[cells] = FREE
        shadow.written[cells] = np.int64(event) << LANE_BITS | (lane + self.detector.first_lane)
        if load.source is not None:
            self._read(load.site, lane, load.source)
            block = int(load.source[0]) * 16 // self.resident.shared_stride
            if block != self.resident.block_of_lane[lane]:
                self.detector.clusters.uses(load.site, np.array([lane]), np.array([block]))
        self.flying = [other for other in self.flying if other is not load]

    # ---- Copies into shared memory ----

    def load_issued(self, load, barrier) -> None:
        """Check a copy that is being issued: earlier accesses to its destination have to happen before it."""
        site, lane = load.site, np.array([load.lane])
        self.after_init(site, barrier, lane)
        self.users.issued(load, barrier)
        if load.proxy:
            self._fence_of_init(site, load.lane, barrier)
        if load.source is not None:
            self.store_issued(site, load.lane, load.source)
        access = self._access(site, "overwrites", load.lane, load.index, load.width)
        detector, last = self.detector, self.detector.shared.written[access.cells]
        atomic = self.hazards.accesses.atomic
        if atomic[site]:  # red.async may meet other atomics that are still in flight
            last = np.where(atomic[self.hazards.site_of[last >> LANE_BITS]], 0, last)
        if not last.any() or not detector.check_shared(access, None):
            detector.check(access, last, "wrote")
        detector.check_readers(access)
        if load.proxy:
            self.fences.check(access, last, "lets a copy through the async proxy overwrite {place}")
        event = self.hazards.next_event(site)
        detector.shared.written[access.cells] = np.int64(event) << LANE_BITS | access.lanes
        detector.shared.pending[access.cells] = FILLED
        self.flying.append(load)

    def load_landed(self, load, barrier) -> None:
        if barrier is not None:
            self.users.landed(load, barrier)
        load, clock = self.reported.pop(load, load), self.clocks.pop(load, None)
        if barrier is not None:
            record = self.records[barrier]
            record.loads.append(load)
            if clock is not None:
                np.maximum(record.clock, clock, out=record.clock)

    def copies_reported(self, load) -> None:
        """From now on the cp.async of a thread that it has not waited for belong to this load of an mbarrier."""
        detector, left, copies, issued = self.detector, [], [], load.site
        self.users.issued(load, self.resident.mbarriers.known[load.key])
        for lanes, at, width, group, site in detector.copies:
            mine = lanes == load.lane
            if mine.any():
                copies.append((at[mine].astype(np.int64), width))
                issued = site
            if not mine.all():
                left.append((lanes[~mine], at[~mine], width, group[~mine], site))
        detector.copies = left
        detector.copied.reported(load.lane)
        if copies:
            least = min(width for _, width in copies)
            index = [(at[:, None] * (width // least) + np.arange(width // least)).ravel() for at, width in copies]
            own = replace(load, site=issued, index=np.unique(np.concatenate(index)), width=least)
            self.reported[load] = own
            self.flying.append(own)

    def filling(self, cell: int):
        """The load in flight that writes a cell of shared memory, or copies it to another block.

        None if the copy that uses the cell does not report to an mbarrier.
        """
        cells = self.detector.shared.cells
        for load in self.flying:
            if (cells(load.index, load.width, len(load.index)) == cell).any():
                return load
            if load.source is not None and (cells(load.source, 16, len(load.source)) == cell).any():
                return load
        return None

    def _fence_of_init(self, site: int, lane: int, barrier) -> None:
        if not self.fences.covers_init(self.records[barrier].init):
            where, origin = self.resident.describe(site), self.resident.mbarriers.origin(barrier)
            if say := self.hazards.new("missing fence", site, barrier.site):
                say(
                    f"{where}: {self.resident.name_lane(lane)} lets a copy report to the mbarrier at shared address "
                    f"{barrier.address}, but no fence follows its init by {origin}: it needs "
                    "fence.mbarrier_init.release.cluster or fence.proxy.async, then the barrier."
                )

    # ---- Copies out of shared memory ----

    def store_issued(self, site: int, lane: int, index) -> None:
        """Check a copy that is being issued and reads shared memory through the async proxy."""
        access, detector = self._access(site, "reads", lane, index), self.detector
        last = detector.shared.written[access.cells]
        if not detector.check_shared(access, last):
            detector.check(access, last, "wrote")
        self.fences.check(access, last, "lets a copy through the async proxy read {place}")
        free = detector.shared.pending[access.cells] == FREE
        detector.shared.pending[access.cells[free]] = READ

    def store_waited(self, store) -> None:
        """The thread of a store has waited until its shared memory was read."""
        self._read(store.site, store.lane, store.index)

    def _read(self, site: int, lane: int, index) -> None:
        """Count what a copy has read as a read by the lane that waited for it."""
        access, shadow = self._access(site, "reads", lane, index), self.detector.shared
        held = shadow.pending[access.cells] == READ
        shadow.pending[access.cells[held]] = FREE
        event = self.hazards.next_event(site)
        shadow.note_read(access.cells, access.lanes, np.int64(event) << LANE_BITS | access.lanes)

    # ---- Global memory and the end ----

    def global_copied(self, site: int, lane: int, place, verb: str) -> None:
        """Check what a copy reads or writes in global memory."""
        if not place.index.size:
            return
        detector, event = self.detector, self.hazards.next_event(site)
        memory = self.resident.memory
        for number, positions, inside in by_array(memory, place.index, place.width):
            shadow = self.hazards.array(number)
            count = len(place.index) if positions is None else len(positions)
            lanes = np.full((count, 1), lane + detector.first_lane)
            cells = shadow.cells(inside, place.width, count)
            access = Access(site, verb, shadow, memory.names[number], lanes, cells)
            last = shadow.written[cells]
            detector.check(access, last, "wrote")
            detector.copied.check(access)
            if shadow.unset and (verb == "reads" or self.hazards.accesses.atomic[site]):
                detector.check_written(access, last)
            stamp = np.int64(event) << LANE_BITS | lanes
            if verb == "writes":
                detector.check_readers(access)
                shadow.written[cells] = stamp
                detector.copied.stored(lane, access, place.width, bool(self.hazards.accesses.atomic[site]))
            else:
                self.fences.of_global.check(access, last)
                shadow.note_read(cells, lanes, stamp)

    def in_flight_at_end(self, stores) -> None:
        """Report copies that are in flight when the blocks have ended, because their shared memory is then released."""
        for copies, what in (
            (self.flying, "no thread has waited for the mbarrier of this copy"),
            (stores, "no wait_group has made sure that this copy has read its shared memory"),
        ):
            for copy in copies:
                if say := self.hazards.new("missing wait", copy.site):
                    say(
                        f"{self.resident.describe(copy.site)}: {self.resident.name_lane(copy.lane)}'s block ends, and "
                        f"{what}."
                    )

    # ---- Pieces ----

    def _access(self, site: int, verb: str, lane: int, index, width: int = 16) -> Access:
        lanes, shared = np.full((len(index), 1), lane + self.detector.first_lane), self.detector.shared
        return Access(site, verb, shared, None, lanes, shared.cells(index, width, len(index)))
