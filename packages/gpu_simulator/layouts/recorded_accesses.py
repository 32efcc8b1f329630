"""`RecordedAccesses`: the addresses of every access to shared and global memory of a launch, each pattern once.

recorded = RecordedAccesses()
report = launch(…, observers=[recorded.observe])
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpu_simulator.codegen.ops.memory.async_copy import form_of_copy
from gpu_simulator.machine.address_space import GLOBAL_BASE
from gpu_simulator.machine.counting import NOT_ACTIVE, based, row_costs, row_hashes
from gpu_simulator.machine.observer import Observer
from gpu_simulator.machine.resident_blocks import ResidentBlocks

MOST_ROWS = 20_000  # different rows of addresses of one instruction that are kept
BULK, PRODUCTS, MBARRIERS, WMMA = "bulk copies (TMA)", "wgmma or tcgen05", "mbarriers", "wmma"


class Rows:
    """Rows of int64 addresses, one for each access of a warp; equal rows are kept once, with their number.

    full: there were more than `MOST_ROWS` different ones, so some are missing.
    """

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._rows: list[np.ndarray] = []
        self._counts: list[int] = []
        self.full = False

    def add(self, rows: np.ndarray) -> None:
        """Add rows; those without an active lane are left out."""
        rows = rows[(rows[:, :32] != NOT_ACTIVE).any(1)]
        found, first, counts = np.unique(row_hashes(rows), return_index=True, return_counts=True)
        order = np.argsort(first)  # that of the warps
        for key, at, count in zip(*(part[order].tolist() for part in (found, first, counts)), strict=True):
            place = self._places.get(key)
            if place is not None:
                self._counts[place] += count
            elif len(self._rows) < MOST_ROWS:
                self._places[key] = len(self._rows)
                self._rows.append(rows[at].copy())
                self._counts.append(count)
            else:
                self.full = True

    @property
    def rows(self) -> np.ndarray:
        """(different rows, columns) of addresses."""
        return np.array(self._rows, np.int64)

    @property
    def counts(self) -> np.ndarray:
        """(different rows,) how often each was used."""
        return np.array(self._counts, np.int64)


@dataclass(frozen=True)
class SharedAccess:
    """The accesses of one PTX instruction to shared memory.

    kind: as `machine.counting.row_costs` takes it.   width: bytes of a lane.   rows: (n, 32) shared addresses, with
    NOT_ACTIVE for idle lanes.   counts: (n,) how often each row was used.   full: see `Rows`.
    sources: (n, 32) global addresses of a cp.async.   reads: (n, 32) 1 where a lane reads its source; None for all.
    """

    site: int
    kind: str
    width: int
    rows: np.ndarray
    counts: np.ndarray
    full: bool
    sources: np.ndarray | None = None
    reads: np.ndarray | None = None

    def costs(self, rows: np.ndarray | None = None) -> np.ndarray:
        """(n,) wavefronts of each row. rows: other addresses in place of those that were recorded."""
        rows = self.rows if rows is None else rows
        if self.sources is None:
            return row_costs(self.kind, self.width, rows)
        parts = [self.sources, rows] if self.reads is None else [self.sources, rows, self.reads]
        return row_costs(self.kind, self.width, np.concatenate(parts, axis=1))

    def wavefronts(self, rows: np.ndarray | None = None) -> int:
        """Wavefronts of all its executions."""
        return int((self.costs(rows) * self.counts).sum())


@dataclass(frozen=True)
class GlobalAccess:
    """The accesses of one PTX instruction to global memory.

    rows: (n, 32) addresses, each row relative to a multiple of 32 at or below its lowest.   Others: as `SharedAccess`.
    """

    site: int
    width: int
    rows: np.ndarray
    counts: np.ndarray
    full: bool

    def sectors(self) -> np.ndarray:
        """(n,) 32-byte sectors of each row."""
        return row_costs("sectors", self.width, self.rows)

    def least(self) -> np.ndarray:
        """(n,) sectors that the different bytes of each row would fill if they lay side by side."""
        ordered = np.sort(self.rows, axis=1)
        new = np.ones(ordered.shape, bool)
        new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        return -(-(new & (ordered != NOT_ACTIVE)).sum(1) * self.width // 32)


class RecordedAccesses:
    """What the blocks of one launch accessed. fixed: (first byte, end, what uses them) of shared memory that is
    addressed by hardware, so that an index alone cannot move it. unknown: instructions whose addresses are not kept.
    """

    def __init__(self) -> None:
        self._shared: dict[tuple[int, str, int, int], Rows] = {}
        self._global: dict[tuple[int, int], Rows] = {}
        self.fixed: set[tuple[int, int, str]] = set()
        self.unknown: set[int] = set()

    def observe(self, resident: ResidentBlocks) -> Observer:
        """The observer of one group of resident blocks, for `launch(observers=…)`."""
        return _Recorder(resident, self)

    def add_shared(self, site: int, kind: str, width: int, rows: np.ndarray) -> None:
        """Record accesses of an instruction; a row has the addresses of a warp's lanes."""
        self._shared.setdefault((site, kind, width, rows.shape[1]), Rows()).add(rows)

    def add_global(self, site: int, width: int, rows: np.ndarray) -> None:
        """As `add_shared`, for global memory."""
        self._global.setdefault((site, width), Rows()).add(_relative(rows, 32))

    def shared(self) -> Iterator[SharedAccess]:
        """The accesses to shared memory, by instruction."""
        for (site, kind, width, columns), found in sorted(self._shared.items()):
            rows, counts = found.rows, found.counts
            if columns == 32:
                yield SharedAccess(site, kind, width, rows, counts, found.full)
            else:
                reads = rows[:, 64:] if columns == 96 else None
                yield SharedAccess(site, kind, width, rows[:, 32:64], counts, found.full, rows[:, :32], reads)

    def global_(self) -> Iterator[GlobalAccess]:
        """The accesses to global memory, by instruction."""
        for (site, width), found in sorted(self._global.items()):
            yield GlobalAccess(site, width, found.rows, found.counts, found.full)


def _relative(rows: np.ndarray, unit: int) -> np.ndarray:
    """Rows of addresses, each relative to a multiple of `unit` at or below its lowest."""
    active = rows != NOT_ACTIVE
    return np.where(active, based(rows, active, unit), NOT_ACTIVE)


class _Recorder(Observer):
    def __init__(self, resident, recorded: RecordedAccesses):
        super().__init__(resident)
        self.recorded, self.sites = recorded, resident.program.sites
        self.sources: dict[int, np.ndarray] = {}  # of the cp.async that is being executed

    # ---- Loads, stores and atomics ----

    def read(self, lanes, site, memory, index, picked, width) -> None:
        family = self.sites[site].family
        self.note(lanes, site, memory, index, picked, width, "load" if family in ("ld", "ldu") else "shared")

    def write(self, lanes, site, memory, index, picked, width, values=None) -> None:
        self.note(lanes, site, memory, index, picked, width, "shared")

    def atomic(self, lanes, site, memory, index, picked, width) -> None:
        self.note(lanes, site, memory, index, picked, width, "shared")

    def note(self, lanes, site, memory, index, picked, width, kind) -> None:
        shared = memory is self.resident.shared
        if self.sites[site].family == "wmma":  # its events are elements, not the requests that are counted
            self.recorded.unknown.add(site)
            if shared:
                self.chunks(np.asarray(index) % (self.resident.shared_stride // width), width, WMMA)
            return
        rows = self.rows(lanes, index, picked, width, shared)
        if shared:
            self.recorded.add_shared(site, kind, width, rows)
            return
        self.recorded.add_global(site, width, rows)
        if self.sites[site].family == "cp":
            self.sources[site] = rows

    def rows(self, lanes, index, picked, width, shared: bool) -> np.ndarray:
        """(warps, 32) addresses: in the shared memory of a block, or in global memory."""
        at = np.asarray(index, np.int64) * width
        at = at % self.resident.shared_stride if shared else at + GLOBAL_BASE
        rows = np.full(lanes.n, NOT_ACTIVE)
        rows[slice(None) if picked is None else picked] = at
        return rows.reshape(-1, 32)

    def copy_issued(self, lanes, site, index, picked, width) -> None:
        rows = self.rows(lanes, index, picked, width, True)
        sources, active = self.sources.pop(site, np.full(rows.shape, NOT_ACTIVE)), rows != NOT_ACTIVE
        reads = sources != NOT_ACTIVE
        parts = [_relative(sources, 128), rows]
        if (reads != active).any():
            parts.append(np.where(active, reads.astype(np.int64), NOT_ACTIVE))
            parts[0] = np.where(active & ~reads, 0, parts[0])  # a lane that does not read has no known address
        kind = form_of_copy(self.resident.program, self.sites[site])
        self.recorded.add_shared(site, kind, width, np.concatenate(parts, axis=1))

    # ---- What hardware addresses itself ----

    def fix(self, ends, reason: str) -> None:
        """Keep a range of shared memory as it is. ends: its first byte and its end, with those of the block before."""
        low, high = (int(at) for at in ends)
        base = low // self.resident.shared_stride * self.resident.shared_stride
        self.recorded.fixed.add((low - base, high - base, reason))

    def chunks(self, index, width: int, reason: str) -> None:
        index = np.asarray(index)
        if index.size:
            self.fix((index.min() * width, (index.max() + 1) * width), reason)

    def load_issued(self, load, barrier) -> None:
        self.chunks(load.index, load.width, BULK)
        if load.source is not None:
            self.chunks(load.source, 16, BULK)

    def store_issued(self, site, lane, index) -> None:
        self.chunks(index, 16, BULK)

    def mbarrier_initialised(self, site, lane, barrier) -> None:
        self.recorded.fixed.add((barrier.key[1], barrier.key[1] + 8, MBARRIERS))

    def wgmma_issued(self, flight, sources) -> None:
        for source in sources:
            stride = self.resident.shared_stride >> 4
            self.chunks(np.asarray(source) % stride, 16, PRODUCTS)

    def tcgen05_issued(self, product) -> None:
        for index in (product.index_a, product.index_b):
            if index is not None:
                self.chunks(index, 16, PRODUCTS)
