"""Finds hazards of tensor memory and of tcgen05.mma: data used before it is known to be complete, and missing fences.

Every tcgen05 access to tensor memory is asynchronous. A load or a store is done when its warp has waited (wait::ld,
wait::st), a product, a copy or a shift when some thread has waited for the mbarrier of a tcgen05.commit that follows.
Another thread may then access the same cells if it has synchronised with that thread (a barrier) and has executed
tcgen05.fence::after_thread_sync since, because its own access is asynchronous as well. If the barrier is relaxed, the
first thread has to execute tcgen05.fence::before_thread_sync before it; a commit contains that fence, and a release
orders what has been waited for in any case ("The standard memory consistency model synchronization mechanisms also
apply"). Products with the same accumulator, shape and kind that one thread issues are executed in order without any of
this, and so are the other pairs of `order.follows`; those of different warps are not.

What is read from shared memory must not change until the product or the copy is known to be done. What threads stored
there is read through the async proxy. PTX ISA, "tcgen05: Memory Consistency Model".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.observers.access import Access
from gpu_simulator.observers.happens_before import LANE_BITS
from gpu_simulator.observers.tcgen05.accesses import Cells, Completions, Touch
from gpu_simulator.observers.tcgen05.collector_buffers import CollectorBuffers
from gpu_simulator.observers.tcgen05.messages import Tcgen05Messages
from gpu_simulator.observers.tcgen05.order import Tcgen05Order, follows, in_order

CHUNK_SHIFT = 4

WHOLE_WARP = ("ld", "st")  # accesses that all lanes of a warp execute together
OPERATIONS = ("mma", "cp", "shift")  # those of one thread, which a commit follows


class Tcgen05Checker:
    """Part of the `RaceDetector` of one group of resident blocks."""

    def __init__(self, detector):
        self.detector, self.resident = detector, detector.resident
        self.hazards, self.order = detector.hazards, detector.order
        self.words, self.collectors = Tcgen05Messages(self), CollectorBuffers(self)
        self.cells: dict[int, Cells] = {}
        self.touches: list[Touch] = [Touch("none", -1, 0, 0)]
        self.open: dict[int, list[Touch]] = {}  # warp -> loads and stores that it has not waited for
        self.unfenced: dict[int, list[Touch]] = {}  # warp -> accesses since its last fence::before_thread_sync
        self.between = Tcgen05Order(detector)
        self.said: set = set()  # pairs of places for which something was reported
        self.reading = np.zeros(0, np.int32)  # for each 16 bytes of shared memory: the last operation that reads them
        self.stamps = np.zeros(64, np.int64)  # by operation: event << 32 | lane that first knew that it was done
        self.progress: dict[int, Completions] = {}  # by issuing lane
        self.arriving: list = []  # commits to mbarriers of other blocks, for which no thread has waited

    # ---- Allocation ----

    def tcgen05_alloc_asked(self, site: int, warp: int, block: int, group: int) -> None:
        """Report an allocation with cta_group::2 if the other block of the pair may not have started.

        It has started if this block has waited at barrier.cluster.
        """
        if group == 1:
            return
        lane = 32 * warp
        barrier, size = self.resident.cluster_barrier, 32 * self.resident.warps_per_block
        over = barrier.complete()[int(barrier.cluster_of_lane[lane])]
        if not over or not barrier.waited[block * size : (block + 1) * size].any():
            self.words.not_begun(site, lane, block ^ 1)

    def tcgen05_allocated(self, site: int, lane: int, block: int, start: int, columns: int, place: int) -> None:
        """A warp gets columns, and their address is written to shared memory (`place`, in units of 4 bytes)."""
        cells = self.cells.setdefault(block, Cells())
        for rows in (cells.writer, cells.reader, cells.other):
            rows[:, start : start + columns] = 0
        detector, shadow = self.detector, self.detector.shared
        event, lanes = self.hazards.next_event(site), np.full((1, 1), lane + detector.first_lane)
        access = Access(site, "writes", shadow, None, lanes, shadow.cells(np.array([place]), 4, 1))
        if not detector.check_shared(access, None):
            detector.check(access, shadow.written[access.cells], "wrote")
        detector.check_readers(access)
        shadow.written[access.cells] = np.int64(event) << LANE_BITS | lanes
        self.order.synced[lane : lane + 32] = event

    def tcgen05_deallocated(self, site: int, lane: int, block: int, start: int, columns: int) -> None:
        new = Touch("dealloc", site, lane, self.hazards.next_event(site))
        cells, span = self.cells[block], slice(start, start + columns)
        for table in (cells.writer, cells.reader, cells.other):
            self._against(new, table[:, span], True)
            table[:, span] = 0

    # ---- Loads and stores ----

    def tcgen05_loaded(
        self, site: int, warp: int, block: int, lane: int, column: int, shape: str, columns: int
    ) -> None:
        new = self._touch("ld", site, warp * 32)
        if site in self.hazards.early_uses:
            self.words.used_early(new, self.hazards.early_uses[site])
        cells, where = self.cells[block], self._where(lane, column, shape, columns)
        self._against(new, cells.writer[where], True)
        before, number = cells.reader[where], len(self.touches) - 1
        foreign = (before != 0) & (before != number)
        if foreign.any():
            cells.other[where] = np.where(foreign, before, cells.other[where])
        cells.reader[where] = number

    def tcgen05_stored(
        self, site: int, warp: int, block: int, lane: int, column: int, shape: str, columns: int
    ) -> None:
        new = self._touch("st", site, warp * 32)
        cells, where = self.cells[block], self._where(lane, column, shape, columns)
        for table in (cells.writer, cells.reader, cells.other):
            self._against(new, table[where], False)
        cells.writer[where], cells.reader[where], cells.other[where] = len(self.touches) - 1, 0, 0

    def tcgen05_waited(self, lanes, site: int, what: str) -> None:
        event = self.hazards.next_event(site)
        for warp in self.resident.tensor_memory.warps(lanes):
            left = []
            for touch in self.open.get(warp, ()):
                if touch.kind == what:
                    touch.done = event
                else:
                    left.append(touch)
            self.open[warp] = left

    # ---- Fences ----

    def tcgen05_fence(self, lanes, site: int, mask, before: bool) -> None:
        numbers = lanes.lane_numbers()[lanes.active() if mask is None else mask]
        if not len(numbers):
            return
        event = self.hazards.next_event(site)
        if not before:
            self.between.fence_after(numbers, event)
            return
        for warp, lanes_of_warp in zip(*np.unique(numbers >> 5, return_counts=True), strict=True):
            left = []
            for touch in self.unfenced.pop(int(warp), ()):
                if touch.kind in WHOLE_WARP and lanes_of_warp < 32:  # the other lanes have not executed the fence
                    left.append(touch)
                else:
                    touch.fenced = event
            if left:
                self.unfenced[int(warp)] = left

    # ---- Products, copies and shifts ----

    def tcgen05_issued(self, product) -> None:
        site, lane = product.site, product.lane
        new = self._touch(product.kind, site, lane)
        new.product, number = product, len(self.touches) - 1
        progress = self.progress.setdefault(lane, Completions())
        progress.waiting.append(number)
        progress.uncommitted.append(new)
        self._operands(product, number)
        if product.kind == "mma":
            self.collectors.issued(product, new.issued)
        for block, groups, column, columns, writes in product.tensor():
            cells, span = self.cells[block], slice(column, column + columns)
            where = (
                (slice(int(groups[0]), int(groups[-1]) + 1), span)
                if len(groups) in (1, groups[-1] - groups[0] + 1)
                else (groups, span)
            )
            self._against(new, cells.writer[where], product.accumulates or not writes)
            if writes:
                self._against(new, cells.reader[where], False)
                self._against(new, cells.other[where], False)
                cells.writer[where], cells.reader[where], cells.other[where] = number, 0, 0
            else:
                cells.reader[where] = number

    def tcgen05_executed(self, site: int, numbers) -> None:
        """Report an operation that several threads of one warp issue."""
        warps = numbers >> 5
        if len(np.unique(warps)) == len(numbers):
            return
        lanes, kind = numbers[warps == warps[0]].tolist(), self.resident.program.sites[site].parts[1]
        what = {"cp": "copy"}.get(kind, "product" if kind == "mma" else kind)
        if say := self.hazards.new("repeated issue", site):
            say(
                f"{self.resident.describe(site)}: {len(lanes)} threads of the warp of "
                f"{self.resident.name_lane(lanes[0])} issue this tcgen05.{kind}, and each of them is one {what}: let "
                "one thread do it (elect.sync)."
            )

    def _operands(self, product, number: int) -> None:
        """Check what a product or a copy reads in shared memory."""
        detector, shadow, index = self.detector, self.detector.shared, product.shared(self.resident.shared_stride >> 4)
        if not len(index):
            return
        cells = shadow.cells(index, 16, len(index))
        lanes = np.full((len(index), 1), product.lane + detector.first_lane)
        access, last = Access(product.site, "reads", shadow, None, lanes, cells), shadow.written[cells]
        if not detector.check_shared(access, last):
            stamps = np.unique(last)
            stamps = stamps[stamps >> LANE_BITS > self.order.floor]
            if (
                len(stamps)
                and self.order.unordered(np.full((len(stamps), 1), lanes[0, 0]), stamps[:, None], True) is not None
            ):
                detector.check(access, last, "wrote")
            detector.fences.check(access, last, "lets the tensor cores read {place} through the async proxy")
        if len(self.reading) == 0:
            self.reading = np.zeros((len(self.resident.shared.data) >> CHUNK_SHIFT) + 1, np.int32)
        self.reading[index] = number

    def overwritten(self, access: Access) -> bool:
        """Check a write to shared memory; True if a product or a copy that may be in flight reads there."""
        if len(self.reading) == 0:
            return False
        chunks = access.cells * access.shadow.cell >> CHUNK_SHIFT
        found = self.reading[chunks]
        if not found.any():
            return False
        stamps = self.stamps[found]
        flying = (found > 0) & (stamps == 0)
        if flying.any():
            row, column = np.argwhere(flying)[0]
            touch, words = self.touches[found[row, column]], self.detector.words(access, row, column)
            if say := self.hazards.new("missing wait", access.site, touch.site):
                say(self.words.overwrites(words, access, touch))
            return True
        bad = self.order.unordered(access.lanes, stamps, True)
        for number in [] if bad is None else np.unique(found[bad]).tolist():
            row, column = np.argwhere(bad & (found == number))[0]
            touch = self.touches[number]
            lane = int(access.lanes[row, 0]) - self.detector.first_lane
            if not any(self.between.told(lane, *one) for one in self._witnesses(touch)):
                self.words.untold(self.detector.words(access, row, column), access, touch)
                break
        return False

    # ---- Commits ----

    def tcgen05_committed(self, load, barrier) -> None:
        """Record a commit, which will arrive at an mbarrier and publishes what its thread did before."""
        self.detector.proxies.after_init(load.site, barrier, np.array([load.lane]))
        self.detector.proxies.users.issued(load, barrier)
        self.detector.proxies.clocks[load] = self.order.known_to(np.array([load.lane >> 5]), self.hazards.event)[0]
        if load.key[0] != self.resident.block_of_lane[load.lane]:
            self.arriving.append(load)
        progress = self.progress.get(load.lane)
        if progress is not None:
            for touch in progress.uncommitted:
                touch.commit = load
            progress.uncommitted = []

    def observed(self, load, lane: int) -> None:
        """A thread has waited for the phase that counts a commit, so what was issued before the commit is done."""
        progress, event = self.progress.setdefault(load.lane, Completions()), self.hazards.next_event(load.site)
        self.arriving = [other for other in self.arriving if other is not load]
        counts, events = progress.counts.setdefault(lane, []), progress.events.setdefault(lane, [])
        if not counts or counts[-1] < load.products:
            counts.append(load.products)
            events.append(event)
        while progress.waiting and self.touches[progress.waiting[0]].product.number <= load.products:
            number = progress.waiting.popleft()
            self.touches[number].done = event
            self.stamps[number] = event << LANE_BITS | (lane + self.detector.first_lane)

    def left(self, block: int) -> None:
        """Report commits of other blocks that may still arrive at an mbarrier of a block that has ended."""
        for load in self.arriving:
            if load.key[0] == block:
                self.words.arrives_late(load, block)

    def _witnesses(self, touch: Touch):
        """(event, lane) for each thread that knows that an access is done."""
        if touch.product is None:
            return [(touch.done, touch.lane)]
        return list(self.progress[touch.lane].witnesses(touch.product.number))

    # ---- Pairs of accesses ----

    def _against(self, new: Touch, table: np.ndarray, reads: bool) -> None:
        """Check an access against the last ones to its cells. reads: report cells that were never written."""
        low, high = int(table.min()), int(table.max())
        if reads and low == 0 and new.kind != "dealloc":
            self.words.never_written(new)
        for number in [low] if low == high else np.unique(table).tolist():
            old = self.touches[number]
            places = self.hazards.where[new.site], self.hazards.where[old.site]
            if number == 0 or old is new or places in self.said:
                continue
            missing = self._missing(old, new)
            if missing is not None:
                self.said.add(places)
                missing(old, new)

    def _missing(self, old: Touch, new: Touch):
        """The method of `Tcgen05Messages` that reports what is missing between two accesses to a cell, or None."""
        between, words, whole = self.between, self.words, new.kind in WHOLE_WARP
        if old.product is None:
            if old.warp == new.warp and (old.done or old.kind == new.kind == "ld"):
                return None
        elif new.product is not None and (old.lane == new.lane or not old.done):
            if not old.done and not self._ordered(old, new):
                return words.not_pipelined
            return None if between.told(new.lane, old.issued, old.lane) or old.lane == new.lane else words.race
        if not old.done:
            return words.not_waited
        told = None
        for one in self._witnesses(old):
            if between.told(new.lane, *one) or between.met(new.lane, *one):
                told = one
                if new.kind == "dealloc" or between.fenced(new.lane, *one, whole):
                    break
        else:
            if told is None:
                return words.race
        if new.kind == "dealloc":
            return None
        if (
            old.product is None
            and not between.told(new.lane, *told)
            and not (old.fenced and between.met(new.lane, old.fenced, old.lane))
        ):
            return words.unfenced_before
        return None if between.fenced(new.lane, *told, whole) else words.unfenced_after

    def _ordered(self, old: Touch, new: Touch) -> bool:
        """Whether two operations may follow each other without a wait: in order, or without a write that matters."""
        if follows(old, new) or (old.kind == new.kind == "mma" and old.product.only_reads(new.product)):
            return True
        return in_order(old, new, (self.touches[number] for number in self.progress[old.lane].waiting))

    # ---- Pieces ----

    def _touch(self, kind: str, site: int, lane: int) -> Touch:
        touch = Touch(kind, site, lane, self.hazards.next_event(site))
        self.touches.append(touch)
        if len(self.touches) > len(self.stamps):
            self.stamps = np.concatenate([self.stamps, np.zeros_like(self.stamps)])
        if kind not in OPERATIONS:
            self.open.setdefault(lane >> 5, []).append(touch)
        self.unfenced.setdefault(lane >> 5, []).append(touch)
        return touch

    @staticmethod
    def _where(lane: int, column: int, shape: str, wide: int):
        first = lane >> 4
        return slice(first, first + (2 if shape == "32x32b" else 1)), slice(column, column + wide)
