"""mbarriers: phases that complete when all arrivals and all announced bytes have arrived, and the lanes that wait.

A lane that waits for a phase is parked instead of spinning; this is legal for `test_wait` as well, because an
instruction may take any time. A wait returns false only when no other lane can continue. If the lane then waits again
and nothing has changed, that is a deadlock, and its message says what every barrier still needs. In late timing the
first `HASTY` waits of a lane for a phase return false at once, as they may on a GPU; for the first lanes that reach a
waiting instruction of the program, the first `PATIENT` waits do. This finds code that does not repeat its wait, or that
gives up. Where a loop only asks again until the wait is over, nobody gives up, and `HASTY` times are enough.

The state is kept here; the eight bytes in shared memory, which are opaque to a kernel, hold a mark that detects a store
to them. PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_simulator.faults import MbarrierFault, MemoryFault
from gpu_simulator.machine.branching import PARKED
from gpu_simulator.machine.thread_ranges import spans

HASTY, PATIENT = 3, 2000
MOST_ARRIVALS = MOST_BYTES = (1 << 20) - 1
NEVER = -2  # in the place of the phase for which a lane has waited, if it has not waited
PENDING_BITS = 20  # of the state that an arrival returns: phase << 20 | arrivals that were pending before it


class Mbarrier:
    """One barrier. expected: arrivals in each phase.   pending: arrivals still missing in the current phase.

    bytes: announced by expect_tx and not yet copied.   phase: number of the current phase, from 0.
    key: (resident block, shared address).   site, lane: of its init.   arrived: the lane that arrived last, or -1.
    """

    __slots__ = ("key", "expected", "pending", "bytes", "phase", "site", "lane", "arrived")

    def __init__(self, key: tuple[int, int], count: int, site: int, lane: int):
        self.key, self.expected, self.pending, self.bytes, self.phase = key, count, count, 0, 0
        self.site, self.lane, self.arrived = site, lane, -1

    @property
    def address(self) -> int:
        return self.key[1]

    def mark(self) -> int:
        return 0x6D62 << 48 | (self.phase & 0xFFF) << 36 | (self.pending & 0xFFFF) << 20 | self.bytes & 0xFFFFF


class ParkedLanes(NamedTuple):
    """Lanes that wait at a barrier together.

    phase: the one that they wait for.   register: number of the destination, or None.   following: next basic block.
    """

    lanes: np.ndarray
    phase: int
    register: int | None
    following: int
    site: int


class Mbarriers:
    """The mbarriers of the resident blocks, by (resident block, shared address)."""

    def __init__(self, resident):
        self.resident = resident
        self.known: dict[tuple[int, int], Mbarrier] = {}
        self.waiting: dict[tuple[int, int], list[ParkedLanes]] = {}
        self.changes = 0  # number of arrivals, copies and completions so far
        self.hasty = resident.launch.timing == "late"
        # (lane, key, phase) of the lanes whose first `PATIENT` waits return false.
        self.patient: set[tuple[int, tuple[int, int], int]] = set()
        self.refused: dict[tuple[int, tuple[int, int]], tuple[int, int]] = {}  # (lane, key) -> phase, how often
        # By key: (lanes,) the phase for which each lane has waited last with success, or NEVER, and the site of it.
        self.last_waits: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        self.answered: dict[int, int] = {}  # lane -> `changes` when its wait last returned false

    # ---- Instructions. A key is (resident block, address); lanes are numbered among the resident blocks. ----

    def init(self, site: int, lane: int, key, count: int) -> None:
        """mbarrier.init. A barrier that is initialised again begins anew, as it did on an H200 (rules.json)."""
        if self.waiting.get(key):
            raise self.fault(
                site, lane, f"initialises the mbarrier at shared address {key[1]} while threads wait at it."
            )
        if not 1 <= count <= MOST_ARRIVALS:
            raise self.fault(
                site, lane, f"initialises an mbarrier for {count:,} arrivals; 1 to {MOST_ARRIVALS:,} are possible."
            )
        old, found = self.known.get(key), Mbarrier(key, count, site, lane)
        self.last_waits.pop(key, None)
        self.known[key] = found
        for observer in self.resident.observers:
            if old is not None:
                observer.mbarrier_replaced(site, lane, old)
            observer.mbarrier_initialised(site, lane, found)
        self.changed(key, found)

    def invalidate(self, site: int, lane: int, key) -> None:
        found = self.find(site, lane, key)
        if self.waiting.get(key):
            raise self.fault(
                site, lane, f"invalidates the mbarrier at shared address {key[1]} while threads wait at it."
            )
        del self.known[key]
        for observer in self.resident.observers:
            observer.mbarrier_invalidated(site, lane, found)
        self.changes += 1

    def find(self, site: int, lane: int, key) -> Mbarrier:
        """The barrier; raises `MbarrierFault` if there is none, or if its bytes were overwritten."""
        found = self.known.get(key)
        if found is None:
            self.check_address(site, lane, key[1])
            whose = "this block" if key[0] == self.resident.block_of_lane[lane] else self.resident.name_block(key[0])
            near = [a for block, a in self.known if block == key[0]]
            hint = f"; {whose} has mbarriers at {spans(sorted(near))}" if near else ""
            raise self.fault(
                site,
                lane,
                f"uses an mbarrier at shared address {self.words(lane, key)} that was not "
                f"initialised (or is not yet){hint}. mbarrier.init has to come first, and a barrier of "
                "the block after it.",
            )
        if int(self.resident.shared.views[8][self.place(key)]) != found.mark():
            raise self.fault(
                site,
                lane,
                f"uses the mbarrier at shared address {self.words(lane, key)}, but its 8 bytes "
                "were overwritten by a store or a copy: give it shared memory of its own.",
            )
        return found

    def arrive(self, site: int, lane: int, key, count: int, complete: bool = True) -> int:
        """Count arrivals; returns the state before, phase << 20 | pending. complete: whether they may end the phase."""
        barrier = self.find(site, lane, key)
        state = barrier.phase << PENDING_BITS | barrier.pending
        if count > barrier.pending or (count == barrier.pending and not complete):
            if count == barrier.pending:
                what = "would complete its phase, which .noComplete must not"
            else:
                what = (
                    f"is one too many: phase {barrier.phase} misses {barrier.pending:,} of {barrier.expected:,} "
                    f"arrivals and {barrier.bytes:,} bytes. A thread arrives again before the phase is over, or "
                    "more arrive than mbarrier.init was told"
                )
            raise self.fault(
                site, lane, f"arrives at the mbarrier at shared address {self.words(lane, key)} and {what}."
            )
        barrier.pending -= count
        barrier.arrived = lane
        self.changed(key, barrier)
        return state

    def drop(self, site: int, lane: int, key, count: int) -> None:
        """Expect `count` arrivals fewer in later phases."""
        self.find(site, lane, key).expected -= count

    def add_pending(self, site: int, lane: int, key, count: int) -> None:
        barrier = self.find(site, lane, key)
        barrier.pending += count
        self.changed(key, barrier)

    def expect(self, site: int, lane: int, key, size: int) -> None:
        """Announce `size` more bytes; if negative, as many bytes have been copied."""
        barrier = self.find(site, lane, key)
        barrier.bytes += size
        if abs(barrier.bytes) > MOST_BYTES:
            raise self.fault(
                site,
                lane,
                f"brings the mbarrier at shared address {self.words(lane, key)} to "
                f"{barrier.bytes:,} bytes; it can count {MOST_BYTES:,}.",
            )
        self.changed(key, barrier)

    def wait(self, lanes, site: int, addresses, phases, parity: bool, register: int | None, following: int) -> int:
        """Park the lanes whose phase has not ended. Returns the next basic block, or -1 if lanes are parked.

        phases: states from arrivals or, with `parity`, 0 or 1.   register: number of the predicate for the result, or
        None.
        """
        resident, parked, refused = self.resident, [], []
        for key, positions, numbers in self.groups(lanes, site, addresses, lanes.mask):
            barrier = self.find(site, int(numbers[0]), key)
            wanted = np.broadcast_to(phases, lanes.n)[positions].astype(np.int64)
            if parity:
                if int(wanted.max()) > 1:
                    raise self.fault(
                        site, int(numbers[0]), f"waits for the phase parity {int(wanted.max())}; it is 0 or 1."
                    )
                wanted = barrier.phase - ((barrier.phase ^ wanted) & 1)
            else:
                wanted >>= PENDING_BITS
            for observer in resident.observers:
                observer.mbarrier_used(site, barrier, numbers)
            for phase in np.unique(wanted).tolist():
                some = numbers[wanted == phase]
                for observer in resident.observers:
                    observer.mbarrier_waits(site, barrier, some, phase)
                if phase < barrier.phase:
                    self.passed(site, barrier, some, phase)
                    continue
                if self.hasty and register is not None:
                    hasty = self.refuse(site, some, key, phase)
                    refused.append(some[hasty])
                    some = some[~hasty]
                if len(some):
                    parked.append(some)
                    self.waiting.setdefault(key, []).append(ParkedLanes(some, phase, register, following, site))
        if not parked:
            self.answer(None if lanes.full else lanes.lane_numbers()[lanes.active()], register, True)
            for some in refused:
                self.answer(some, register, False)
            return following
        left = np.concatenate(parked)
        gone = np.setdiff1d(lanes.lane_numbers()[lanes.active()], left)
        self.answer(gone, register, True)
        for some in refused:
            self.answer(some, register, False)
        resident.goto(lanes, following)
        resident.at = None
        resident.pc[left] = PARKED
        return -1

    def refuse(self, site: int, lanes: np.ndarray, key, phase: int) -> np.ndarray:
        """Whether each lane's wait returns false at once: if it has waited for this phase fewer than `HASTY` times.

        For the first lanes that wait at an instruction it is `PATIENT` times, unless they ask until the wait is over.
        """
        found = []
        waited_at, program = self.resident.launch.waited_at, self.resident.program
        place = program.sites[site].location or site  # that of the copies of an unrolled loop is the same
        if place not in waited_at and site not in program.spinning_waits:
            waited_at.add(place)
            self.patient.update((lane, key, phase) for lane in lanes.tolist())
        for lane in lanes.tolist():
            asked, times = self.refused.get((lane, key), (phase, 0))
            times = times if asked == phase else 0
            found.append(times < (PATIENT if (lane, key, phase) in self.patient else HASTY))
            self.refused[lane, key] = phase, times + 1
        return np.array(found, bool)

    # ---- Phases ----

    def changed(self, key, barrier: Mbarrier) -> None:
        """Complete the phase if no arrivals and bytes are missing; called after every change of either."""
        self.changes += 1
        if barrier.pending == 0 and barrier.bytes == 0:
            barrier.phase += 1
            barrier.pending = barrier.expected
            for observer in self.resident.observers:
                observer.mbarrier_completed(barrier)
            self.release(key, barrier)
        self.resident.shared.views[8][self.place(key)] = np.uint64(barrier.mark())

    def release(self, key, barrier: Mbarrier) -> None:
        left = []
        for entry in self.waiting.pop(key, ()):
            if entry.phase < barrier.phase:
                self.resume(entry, True)
                self.passed(entry.site, barrier, entry.lanes, entry.phase)
            else:
                left.append(entry)
        if left:
            self.waiting[key] = left

    def resume(self, entry: ParkedLanes, answer: bool) -> None:
        self.resident.at = None
        self.resident.pc[entry.lanes] = entry.following
        self.answer(entry.lanes, entry.register, answer)

    def passed(self, site: int, barrier: Mbarrier, lanes, phase: int) -> None:
        """Lanes have seen that a phase before the barrier's current one is complete; -1 is that before the first."""
        if barrier.key not in self.last_waits:
            count = self.resident.lanes
            self.last_waits[barrier.key] = np.full(count, NEVER, np.int64), np.zeros(count, np.int32)
        phases, sites = self.last_waits[barrier.key]
        phases[lanes], sites[lanes] = phase, site
        for observer in self.resident.observers:
            observer.mbarrier_passed(site, barrier, lanes)

    def answer(self, lanes, register: int | None, value: bool) -> None:
        if register is None:
            return
        R = self.resident.R
        if lanes is None:
            R[register] = np.bool_(value)
            return
        if not len(lanes):
            return
        old = R[register]
        new = np.full(self.resident.lanes, old) if old.ndim == 0 else old.copy()
        new[lanes] = value
        R[register] = new

    # ---- When no lane can continue ----

    def wanted(self) -> set:
        """Keys of the barriers at which lanes wait."""
        return set(self.waiting)

    def say_not_yet(self) -> bool:
        """Let waits return false; True if any lane can continue.

        Lanes that got this answer before continue only if something has changed since.
        """
        some = False
        for key, entries in list(self.waiting.items()):
            left = []
            for entry in entries:
                if self.answered.get(int(entry.lanes[0])) == self.changes:
                    left.append(entry)
                    continue
                for lane in entry.lanes.tolist():
                    self.answered[lane] = self.changes
                self.resume(entry, False)
                some = True
            if left:
                self.waiting[key] = left
            else:
                del self.waiting[key]
        return some

    # ---- Pieces ----

    def place(self, key) -> int:
        block, address = key
        return (block * self.resident.shared_stride + address) >> 3

    def groups(self, lanes, site: int, addresses, mask):
        """Yield (key, positions, lane numbers) of the executing lanes for each barrier that they use."""
        resident = self.resident
        positions = lanes.positions(mask)
        if not len(positions):
            return
        numbers = lanes.lane_numbers()[positions]
        blocks, at = resident.shared.split(site, numbers, np.broadcast_to(addresses, lanes.n)[positions])
        resident.shared.used(site, numbers, blocks)
        codes = blocks << 32 | at
        if (codes == codes[0]).all():
            parts = [(int(codes[0]), slice(None))]
        else:
            order = np.argsort(codes, kind="stable")
            cuts = np.flatnonzero(np.diff(codes[order])) + 1
            parts = [(int(codes[part[0]]), part) for part in np.split(order, cuts)]
        for code, part in parts:
            yield (code >> 32, code & 0xFFFFFFFF), positions[part], numbers[part]

    def check_address(self, site: int, lane: int, address: int) -> None:
        resident = self.resident
        if address % 8 or address + 8 > resident.shared.size:
            why = "is not a multiple of 8" if address % 8 else f"is past its {resident.shared.size:,} bytes"
            raise MemoryFault(
                f"{resident.name_lane(lane)} uses an mbarrier at shared address {address:,}, which {why}; "
                f"{resident.describe(site)}."
            )

    def words(self, lane: int, key) -> str:
        """An address in words, with the block if that is not the lane's own."""
        foreign = key[0] != self.resident.block_of_lane[lane]
        return f"{key[1]} of {self.resident.name_block(key[0])}" if foreign else str(key[1])

    def origin(self, barrier: Mbarrier) -> str:
        resident = self.resident
        return f"{resident.name_lane(barrier.lane)} ({resident.describe(barrier.site)})"

    def fault(self, site: int, lane: int, what: str) -> MbarrierFault:
        resident = self.resident
        return MbarrierFault(f"{resident.describe(site)}: {resident.name_lane(lane)} {what}")
