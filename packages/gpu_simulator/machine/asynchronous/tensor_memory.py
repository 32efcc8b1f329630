"""Tensor memory of the resident blocks: allocations, the warps that wait for one, and the cells.

Here every block is alone on its SM and has all 128 lanes of 512 columns of 32 bits. tcgen05.alloc gets the columns from
`Placement.tensor_memory_base` on if they are free, otherwise the lowest free columns at a multiple of their number,
and waits while there are none. With cta_group::2 it also waits for the other block of the pair, and so do
tcgen05.dealloc and tcgen05.relinquish_alloc_permit. On hardware these two may wait, so a kernel that relies on their
not waiting can hang.
PTX ISA, "tcgen05.alloc, tcgen05.dealloc, tcgen05.relinquish_alloc_permit", "Issue Granularity".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gpu_simulator.faults import TensorMemoryFault
from gpu_simulator.hardware.tensor_memory_layout import ALLOCATIONS, COLUMNS, LANES, QUARTER
from gpu_simulator.machine.branching import PARKED
from gpu_simulator.machine.thread_ranges import spans

BYTES = LANES * COLUMNS * 4
GARBAGE = 0xFFFFFFFF  # initial contents of allocated columns, a NaN; on a GPU they may hold anything


class Allocation(NamedTuple):
    """Columns start … start + columns - 1 of a block. group: of .cta_group.   site, lane: of the tcgen05.alloc."""

    start: int
    columns: int
    group: int
    site: int
    lane: int


class AllocRequest(NamedTuple):
    """A warp that waits in tcgen05.alloc. place: where the address is written, in 4-byte words of shared memory."""

    warp: int
    columns: int
    group: int
    place: int
    site: int
    following: int


class PairWait(NamedTuple):
    """A warp that waits for the other block in an instruction of a pair. what: the instruction, in words."""

    warp: int
    what: str
    site: int
    following: int


class TensorMemory:
    """The tensor memory of one group of resident blocks, which are numbered from 0."""

    def __init__(self, resident):
        self.resident = resident
        self.cells: dict[int, np.ndarray] = {}  # block -> (128, 512) uint32
        self.held: dict[int, list[Allocation]] = {}
        self.freed: dict[int, dict[int, int]] = {}  # block -> column -> site of the dealloc
        self.given_up: dict[int, tuple[int, int]] = {}  # block -> site and lane that relinquished
        self.last: dict[int, int] = {}  # block -> columns of its last alloc
        self.waiting: list[AllocRequest] = []
        self.meeting: list[PairWait] = []

    # ---- Instructions of whole warps ----

    def alloc(self, lanes, site: int, places, columns, group: int, following: int) -> int:
        """tcgen05.alloc: returns -1, with the warps parked that have to wait. places: as in `AllocRequest`."""
        resident = self.resident
        numbers = self.uniform(lanes, site, columns, "columns")
        self.park(lanes, following)
        for warp, place, number in zip(self.warps(lanes), places, numbers, strict=True):
            block = warp // resident.warps_per_block
            self.check_alloc(site, warp * 32, block, number, group)
            for observer in resident.observers:
                observer.tcgen05_alloc_asked(site, warp, block, group)
            self.waiting.append(AllocRequest(warp, number, group, place, site, following))
        self.recheck()
        return -1

    def park(self, lanes, following: int) -> None:
        """Park the executing warps."""
        self.resident.goto(lanes, following)
        self.resident.at = None
        for warp in self.warps(lanes):
            self.resident.pc[warp * 32 : warp * 32 + 32] = PARKED

    def check_alloc(self, site: int, lane: int, block: int, columns: int, group: int) -> None:
        if columns not in ALLOCATIONS:
            raise self.fault(
                site, lane, f"allocates {columns:,} columns of tensor memory; 32, 64, 128, 256 or 512 are possible."
            )
        if block in self.given_up:
            where, _ = self.given_up[block]
            raise self.fault(
                site,
                lane,
                "allocates tensor memory, but its block gave up the right to at "
                f"{self.resident.describe(where)}: allocate before tcgen05.relinquish_alloc_permit.",
            )
        if columns > self.last.get(block, columns):
            raise self.fault(
                site,
                lane,
                f"allocates {columns} columns after {self.last[block]}: the number must not "
                "increase from one tcgen05.alloc of a block to the next; allocate the largest first.",
            )
        self.last[block] = columns
        if group == 2:
            self.pair(site, lane, block)

    def recheck(self) -> None:
        """Give columns to the waiting warps, in their order."""
        done = set()
        for entry in self.waiting:
            together = [entry]
            if entry.group == 2:
                together.append(self.partner(entry))
            if entry.warp in done or together[-1] is None:
                continue
            self.check_places(together)
            start = self.room([self.block(one) for one in together], entry.columns)
            if start is not None:
                for one in together:
                    self.give(one, start)
                    done.add(one.warp)
        self.waiting = [entry for entry in self.waiting if entry.warp not in done]

    def check_places(self, together: list[AllocRequest]) -> None:
        """Raise `TensorMemoryFault` unless both blocks of a pair name the same place for the address.

        Only one of the two blocks writes it for both, at the place that its own instruction names.
        """
        offsets = [4 * one.place % self.resident.shared_stride for one in together]
        if len(set(offsets)) > 1:
            one, other = together
            raise self.fault(
                one.site,
                one.warp * 32,
                f"has the address written to shared address {offsets[0]:,}, and "
                f"{self.resident.name_block(self.block(other))} to {offsets[1]:,}: with cta_group::2 both "
                "blocks name the same place, because one of them writes the address for both.",
            )

    def partner(self, entry: AllocRequest) -> AllocRequest | None:
        """The request in the other block of the pair that belongs to this one; None if there is none yet."""
        other = self.block(entry) ^ 1
        mine = [e for e in self.waiting if e.group == 2 and self.block(e) == self.block(entry)]
        theirs = [e for e in self.waiting if e.group == 2 and self.block(e) == other]
        number = mine.index(entry)
        if number >= len(theirs) or theirs[number].columns != entry.columns:
            return None
        return theirs[number]

    def room(self, blocks: list[int], columns: int) -> int | None:
        taken = np.zeros(COLUMNS, bool)
        for block in blocks:
            for one in self.held.get(block, ()):
                taken[one.start : one.start + one.columns] = True
        base = self.resident.launch.placement.tensor_memory_base
        if base + columns <= COLUMNS and not taken[base : base + columns].any():
            return base
        free = np.flatnonzero(~taken.reshape(-1, columns).any(1))
        return int(free[0]) * columns if len(free) else None

    def give(self, entry: AllocRequest, start: int) -> None:
        resident, block, lane = self.resident, self.block(entry), entry.warp * 32
        if block not in self.cells:
            resident.take(BYTES, "tensor memory")
            self.cells[block] = np.zeros((LANES, COLUMNS), np.uint32)
        self.cells[block][:, start : start + entry.columns] = GARBAGE
        self.held.setdefault(block, []).append(Allocation(start, entry.columns, entry.group, entry.site, lane))
        freed = self.freed.setdefault(block, {})
        for column in range(start, start + entry.columns):
            freed.pop(column, None)
        for observer in resident.observers:
            observer.tcgen05_allocated(entry.site, lane, block, start, entry.columns, entry.place)
        resident.shared.views[4][entry.place] = start
        resident.pc[lane : lane + 32] = entry.following
        resident.at = None

    def meet(self, lanes, site: int, what: list[str], following: int) -> int:
        """Returns -1, with the warps parked whose partner in the other block has not arrived. what: see `PairWait`."""
        self.park(lanes, following)
        for warp, words in zip(self.warps(lanes), what, strict=True):
            mine = PairWait(warp, words, site, following)
            other = next(
                (one for one in self.meeting if self.block(one) == self.block(mine) ^ 1 and one.what == words), None
            )
            if other is None:
                self.meeting.append(mine)
                continue
            self.meeting.remove(other)
            for one in (mine, other):
                self.resident.pc[one.warp * 32 : one.warp * 32 + 32] = one.following
        return -1

    def dealloc_in_pair(self, lanes, site: int, address, columns, following: int) -> int:
        starts = self.dealloc(lanes, site, address, columns, 2)
        return self.meet(
            lanes, site, [f"tcgen05.dealloc of tensor memory at {start:#x}" for start in starts], following
        )

    def relinquish_in_pair(self, lanes, site: int, following: int) -> int:
        self.relinquish(lanes, site)
        return self.meet(lanes, site, ["tcgen05.relinquish_alloc_permit"] * lanes.warps, following)

    def dealloc(self, lanes, site: int, address, columns, group: int) -> list[int]:
        """Release columns; returns the address that each warp gives. Raises `TensorMemoryFault` if it is wrong."""
        starts = self.uniform(lanes, site, address, "addresses")
        for warp, start, number in zip(
            self.warps(lanes), starts, self.uniform(lanes, site, columns, "columns"), strict=True
        ):
            block, lane = warp // self.resident.warps_per_block, warp * 32
            found = next((one for one in self.held.get(block, ()) if one.start == start), None)
            if found is None:
                if start & 0xFFFF in self.freed.get(block, {}):
                    why = f"which was given back already ({self.resident.describe(self.freed[block][start & 0xFFFF])})"
                else:
                    why = f"where no allocation begins; this block holds {self.inventory(block)}"
                raise self.fault(site, lane, f"gives back tensor memory at {start:#x}, {why}.")
            if (number, group) != found[1:3]:
                raise self.fault(
                    site,
                    lane,
                    f"gives back {number} columns with cta_group::{group}; {found.columns} were "
                    f"allocated with cta_group::{found.group} ({self.resident.describe(found.site)}).",
                )
            for observer in self.resident.observers:
                observer.tcgen05_deallocated(site, lane, block, start, number)
            self.held[block].remove(found)
            self.freed[block].update(dict.fromkeys(range(start, start + number), site))
        self.recheck()
        return starts

    def relinquish(self, lanes, site: int) -> None:
        for warp in self.warps(lanes):
            self.given_up[warp // self.resident.warps_per_block] = site, warp * 32

    # ---- Accesses ----

    def check(self, site: int, lane: int, block: int, start: int, columns: int) -> None:
        """Raise `TensorMemoryFault` unless the columns that an instruction uses are allocated."""
        end = start + columns
        for one in self.held.get(block, ()):
            if one.start <= start and end <= one.start + one.columns:
                return
        taken = np.zeros(COLUMNS + 512, bool)
        for one in self.held.get(block, ()):
            taken[one.start : one.start + one.columns] = True
        missing = start + np.flatnonzero(~taken[start:end])
        if not len(missing):
            return
        where = self.freed.get(block, {}).get(int(missing[0]))
        why = (
            f"which was given back at {self.resident.describe(where)}"
            if where is not None
            else (f"which is not allocated; {self.resident.name_block(block)} holds {self.inventory(block)}")
        )
        raise self.fault(
            site,
            lane,
            f"uses columns {start} to {end - 1} of tensor memory, among them column {int(missing[0])}, {why}.",
        )

    def quarter(self, site: int, warp: int, address: int, shape: str) -> tuple[int, int]:
        """(lane, column) of an address that a warp loads from or stores to.

        Raises `TensorMemoryFault` unless the lane is in the warp's quarter.
        """
        lane, column = (address >> 16) % LANES, address & 0xFFFF  # a pair's second block may number its rows from 128
        rank = warp % self.resident.warps_per_block
        first = QUARTER * (rank % 4)
        if lane == first or (shape.startswith("16x") and lane == first + 16):
            return lane, column
        also = f" or {first + 16}" if shape.startswith("16x") else ""
        raise self.fault(
            site,
            warp * 32,
            f"names lane {lane} of tensor memory (address {address:#x}), but a warp reaches "
            f"only its quarter: warp {rank} reaches lanes {first} to {first + QUARTER - 1}, so that the "
            f"address has lane {first}{also}: base + (warp % 4 * 32 << 16) + column.",
        )

    def quarters(self, lanes, site: int, address, shape: str, columns: int) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield (n, warp, block, lane, column) for the n-th executing warp, after a check of its address."""
        for n, (warp, at) in enumerate(
            zip(self.warps(lanes), self.uniform(lanes, site, address, "addresses"), strict=True)
        ):
            block = warp // self.resident.warps_per_block
            lane, column = self.quarter(site, warp, at, shape)
            self.check(site, warp * 32, block, column, columns)
            yield n, warp, block, lane, column

    def finish(self) -> None:
        """Raise `TensorMemoryFault` if a block has ended without releasing its columns."""
        for held in self.held.values():
            if held:
                one = held[0]
                raise self.fault(
                    one.site,
                    one.lane,
                    f"allocates {one.columns} columns of tensor memory that nobody "
                    "gives back: tcgen05.dealloc has to come before the block ends, or no later block "
                    "gets them.",
                )

    # ---- Pieces ----

    def pair(self, site: int, lane: int, block: int) -> tuple[int, int]:
        """The two blocks of a block's pair, the even rank first. Raises `TensorMemoryFault` if it is not in a pair."""
        if self.resident.cluster_size % 2:
            raise self.fault(
                site,
                lane,
                "uses cta_group::2, which needs a pair of blocks, but its cluster has "
                f"{self.resident.cluster_size}: launch it with __cluster_dims__(2, 1, 1).",
            )
        return block & ~1, block | 1

    def warps(self, lanes) -> list[int]:
        return (lanes.lane_numbers()[::32] >> 5).tolist()

    def uniform(self, lanes, site: int, values, what: str) -> list[int]:
        """One value per warp. Raises `TensorMemoryFault` if threads of a warp are missing or have different values."""
        if lanes.mask is not None:
            lane = int(lanes.lane_numbers()[np.flatnonzero(~lanes.mask)[0]])
            raise self.fault(
                site,
                lane & ~31,
                "is in a warp that is not complete (some of its threads have ended, or "
                "the number of threads is not a multiple of 32); this instruction needs all 32 threads.",
            )
        if values.ndim == 0:
            return [int(values)] * lanes.warps
        rows = values.reshape(-1, 32)
        if (rows != rows[:, :1]).any():
            bad = int((rows != rows[:, :1]).any(1).argmax())
            raise self.fault(
                site,
                self.warps(lanes)[bad] * 32,
                f"does not give the same {what} as the other threads of its "
                "warp; tcgen05 instructions of a whole warp take one value from all 32 threads.",
            )
        return rows[:, 0].tolist()

    def block(self, entry: AllocRequest | PairWait) -> int:
        return entry.warp // self.resident.warps_per_block

    def blocks(self) -> set[int]:
        """The resident blocks in which a warp waits."""
        return {self.block(entry) for entry in (*self.waiting, *self.meeting)}

    def explain(self, block: int) -> list[str]:
        """One clause for each warp of a block that waits in tcgen05.alloc, or for the other block of its pair."""
        resident, words = self.resident, []
        alone = (
            f"together with a warp of {resident.name_block(block ^ 1)}, which has not come"
            if (resident.cluster_size > 1)
            else ""
        )
        for entry in (*self.waiting, *self.meeting):
            if self.block(entry) == block:
                threads = spans(resident.thread_of_lane[entry.warp * 32 : entry.warp * 32 + 32])
                if type(entry) is PairWait:
                    what = f"{entry.what} {alone}"
                else:
                    lonely = entry.group == 2 and self.partner(entry) is None
                    what = f"tcgen05.alloc for {entry.columns} columns of tensor memory " + (
                        alone if lonely else f"while its block holds {self.inventory(block)}"
                    )
                words.append(f"threads {threads} wait in {what} ({self.resident.describe(entry.site)})")
        return words

    def inventory(self, block: int) -> str:
        held = sorted(self.held.get(block, ()))
        return ", ".join(f"columns {one.start} to {one.start + one.columns - 1}" for one in held) or "none"

    def fault(self, site: int, lane: int, what: str) -> TensorMemoryFault:
        return TensorMemoryFault(f"{self.resident.describe(site)}: {self.resident.name_lane(lane)} {what}")
