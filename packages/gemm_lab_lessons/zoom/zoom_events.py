"""Records what a block of a launch does, in program order: every memory access and every mma, warp by warp.

The block runs again on the simulator, as it does for `Run.trace`, with a probe at each of these instructions. The
wavefronts and sectors of each event come from the tables that also count the whole launch, so that their sums agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gemm_lab_lessons.zoom.zoom_sources import Origins, followed_sites, registers_of
from gpu_simulator.faults import SimulatedFault
from gpu_simulator.machine.counting import Patterns
from gpu_simulator.machine.observer import Observer
from gpu_simulator.ptx.ir import Negated

ACCESSES = {"ld", "ldu", "st", "ldmatrix", "stmatrix", "atom", "red", "wmma", "cp"}
PRODUCTS = {"mma", "wmma", "wgmma", "tcgen05"}
ELSEWHERE = {"param", "const", "local"}
MOST_EVENTS = 60_000  # of a block; more are counted, but not kept
WAVEFRONT_KINDS = {"shared", "load", "ca", "cg", "cg zfill", "cg if", "cg unless"}


@dataclass(slots=True)
class Event:
    """One execution of one instruction by one warp of the block.

    what: "load", "store", "atomic", "ldmatrix", "stmatrix", "copy" (cp.async), "bulk" (TMA), "tile" (wmma load or
    store) or "mma".   width: bytes of each lane.   shared, source: byte addresses of the lanes in the block's shared
    memory and in global memory (from its beginning), -1 for none; `source` of an access to shared memory alone is the
    place in global memory from which the data came.   outside: whether the event itself accesses global memory.
    shared_bytes, outside_bytes: sorted addresses of 16-byte chunks, for an event without addresses of lanes.
    waves, ideal, sectors: as the simulator counts them.   corners: of an mma, the addresses in global memory of the
    first elements of A and B, -1 if unknown.   pair: of a bulk copy, the shared and the global address of each chunk.
    """

    site: int
    warp: int
    what: str
    width: int = 0
    shared: np.ndarray | None = None
    source: np.ndarray | None = None
    outside: bool = False
    writes: bool = False
    shared_bytes: np.ndarray | None = None
    outside_bytes: np.ndarray | None = None
    waves: int = 0
    ideal: int = 0
    sectors: int = 0
    corners: tuple[int, int] = (-1, -1)
    pair: tuple[np.ndarray, np.ndarray] | None = None


@dataclass
class Log:
    """The events of one block. total, totals: their number in all and by warp, with those beyond `MOST_EVENTS`."""

    events: list[Event] = field(default_factory=list)
    total: int = 0
    totals: dict[int, int] = field(default_factory=dict)


class CostOfWarps(Patterns):
    """Costs of address patterns, which also keeps the cost of every warp of each request."""

    def __init__(self):
        super().__init__()
        self.calls: list[tuple[str, np.ndarray]] = []

    def total(self, kind: str, width: int, relative: np.ndarray, active: np.ndarray | None) -> int:
        same = (relative == relative[0]).all() and (active is None or (active == active[0]).all())
        rows = [
            super(CostOfWarps, self).total(
                kind, width, relative[n : n + 1], None if active is None else active[n : n + 1]
            )
            for n in range(1 if same else len(relative))
        ]
        rows *= len(relative) if same else 1
        self.calls.append((kind, np.array(rows)))
        return sum(rows)


class Recorder(Observer):
    """Collects the `Event`s of one block among the resident ones. rank: of the block in its cluster."""

    def __init__(self, resident, rank: int):
        super().__init__(resident)
        self.rank, self.origins, self.log = rank, Origins(resident), Log()
        self.followed = followed_sites(resident.program)
        self.touches: list[tuple] = []
        self.bulks: list[list] = []
        self.products_read: dict[int, list] = {}  # warp -> chunks that the wgmma of its warpgroup reads
        self.before = (0, 0, 0)

    # ---- What the machine tells between the two calls of `stopped` ----

    def touch(self, verb: str, lanes, memory, index, picked, width: int) -> None:
        """Keep an access: (verb, whether in shared memory, addresses of all lanes or -1, width)."""
        addresses = np.full(lanes.n, -1, np.int64)
        positions = slice(None) if picked is None else picked
        addresses[positions] = np.asarray(index, np.int64) * width
        self.touches.append((verb, memory is self.resident.shared, addresses, width))

    def read(self, lanes, site, memory, index, picked, width) -> None:
        self.touch("read", lanes, memory, index, picked, width)

    def write(self, lanes, site, memory, index, picked, width, values=None) -> None:
        self.touch("write", lanes, memory, index, picked, width)

    def atomic(self, lanes, site, memory, index, picked, width) -> None:
        self.touch("update", lanes, memory, index, picked, width)

    def copy_issued(self, lanes, site, index, picked, width) -> None:
        self.touch("copy", lanes, self.resident.shared, index, picked, width)

    def global_copied(self, site, lane, place, verb) -> None:
        outside = np.asarray(place.index, np.int64) * place.width
        if verb == "writes" and self.bulks and self.bulks[-1][0] == lane and self.bulks[-1][2] is None:
            self.bulks[-1][2:4] = outside, place.sectors
        else:
            self.bulks.append([lane, None, outside, place.sectors, verb == "writes", place.width])

    def load_issued(self, load, barrier) -> None:
        if load.width != 16 or not load.size:
            return
        chunks = np.asarray(load.index, np.int64) * 16
        last = self.bulks[-1] if self.bulks else None
        if last is not None and last[0] == load.lane and last[2] is not None and not last[4]:
            outside = last[2]
            source = outside if len(outside) == len(chunks) and last[5] == 16 else np.full(len(chunks), -1)
            self.origins.copied(chunks, source, 16)
            if last[1] is None or self.own(chunks):
                last[1] = chunks
        else:
            self.origins.forget(chunks, 16)
            self.bulks.append([load.lane, chunks, None, 0, False, 16])

    def store_issued(self, site, lane, index) -> None:
        self.bulks.append([lane, np.asarray(index, np.int64) * 16, None, 0, True, 16])

    def wgmma_issued(self, flight, sources) -> None:
        resident, each = self.resident, self.resident.warpgroups.each
        for row, group in enumerate(np.asarray(flight.groups).tolist()):
            if group // each == self.rank:
                chunks = [np.unique(part[row]) * 16 for part in sources]
                first = group % each * 4
                for warp in range(first, min(first + 4, resident.warps_per_block)):
                    self.products_read[warp] = chunks

    def tcgen05_issued(self, product) -> None:
        if product.kind != "mma":
            return
        first = product.blocks[0] * self.resident.shared_stride
        parts = [part for part in (product.index_a, product.index_b) if part is not None]
        self.bulks.append([product.lane, np.unique(np.concatenate([p.reshape(-1) for p in parts])) * 16 + first,
                           None, 0, False, 0])  # fmt: skip

    # ---- Probes ----

    def stopped(self, lanes, site: int, values: dict, after: bool) -> None:
        resident = self.resident
        counts = resident.sites[site]
        if not after:
            counts.cache.clear()  # so that every access is counted anew, warp by warp
            resident.launch.patterns.calls.clear()
            self.touches, self.bulks, self.products_read = [], [], {}
            self.before = counts.wavefronts, counts.sectors, counts.ideal
            return
        item = resident.program.sites[site]
        active = lanes.active().copy()
        if item.guard is not None:
            negated = type(item.guard) is Negated
            register = item.guard.register if negated else item.guard
            said = np.broadcast_to(values[f"r{register.index}"], lanes.n)
            active &= ~said if negated else said
        if not active.any():
            return
        rows = np.asarray(lanes.lane_numbers())
        if site in self.followed:
            self.origins.move(item, rows, active)
            return
        if self.bulks:
            self.bulk_events(item, site, counts)
            return
        self.events(item, site, lanes, rows, active, counts)

    # ---- Events ----

    def add(self, event: Event) -> None:
        log = self.log
        log.total += 1
        log.totals[event.warp] = log.totals.get(event.warp, 0) + 1
        if len(log.events) < MOST_EVENTS:
            log.events.append(event)

    def own(self, addresses: np.ndarray) -> bool:
        """Whether some addresses are in this block's part of the shared memory of all resident blocks."""
        return bool((addresses // self.resident.shared_stride == self.rank).any())

    def within(self, addresses: np.ndarray) -> np.ndarray:
        return np.where(addresses >= 0, addresses % self.resident.shared_stride, -1)

    def warp_of(self, lane: int) -> int | None:
        block, warp = divmod(lane // 32, self.resident.warps_per_block)
        return warp if block == self.rank else None

    def bulk_events(self, item, site: int, counts) -> None:
        waves, ideal = ((now - then) // len(self.bulks) for now, then in zip(
            (counts.wavefronts, counts.ideal), (self.before[0], self.before[2]), strict=True))  # fmt: skip
        for lane, chunks, outside, sectors, writes, width in self.bulks:
            warp = self.warp_of(int(lane))
            if warp is None:
                continue
            event = Event(site, warp, "mma" if item.family == "tcgen05" else "bulk", width, writes=writes)
            event.waves, event.ideal, event.sectors = waves, ideal, int(sectors)
            if chunks is not None:
                event.shared_bytes = np.sort(self.within(chunks))
            if outside is not None:
                event.outside, event.outside_bytes = True, np.unique(outside // 16 * 16)
                if chunks is not None and width == 16 and len(chunks) == len(outside):
                    event.pair = self.within(chunks), outside
            self.add(event)

    def costs(self, item, counts, warps: int) -> dict[str, np.ndarray]:
        """The wavefronts, ideal wavefronts and sectors of each warp in the instruction that has just been executed."""
        found = {name: np.zeros(warps, np.int64) for name in ("waves", "ideal", "sectors")}
        if item.family == "wgmma":  # counted for the warpgroup; its four warps share the wavefronts
            found["waves"] += (counts.wavefronts - self.before[0]) // warps
            found["ideal"] += (counts.ideal - self.before[2]) // warps
            return found
        calls = [call for call in self.resident.launch.patterns.calls if len(call[1]) == warps]
        if item.family == "wmma":  # only the last calls count: those of the machine instructions
            left = counts.wavefronts - self.before[0] + counts.sectors - self.before[1]
            found["ideal"] += (counts.ideal - self.before[2]) // warps
            last = []
            for call in reversed(calls):
                if left <= 0:
                    break
                last.append(call)
                left -= int(call[1].sum())
            calls = last
        for kind, rows in calls:
            if kind in WAVEFRONT_KINDS:
                found["waves"] += rows
            elif kind.startswith("ideal"):
                found["ideal"] += rows
        copies = any(kind == "copy sectors" for kind, _ in calls)
        for kind, rows in calls:
            if kind == ("copy sectors" if copies else "sectors"):
                found["sectors"] += rows
        return found

    def events(self, item, site: int, lanes, rows, active, counts) -> None:
        origins = self.origins
        outside = next((t for t in self.touches if not t[1]), None)
        inside = next((t for t in self.touches if t[1]), None)
        what, source = self.kind(item, outside, inside), None if outside is None else outside[2]
        if what is None:
            return
        if what == "copy":
            source = np.full(lanes.n, -1, np.int64) if source is None else source
            held = inside[2] >= 0
            origins.copied(inside[2][held], source[held], inside[3])
        elif what == "ldmatrix":
            origins.matrices_loaded(item, rows, inside[2])
            source = origins.at_home(inside[2])
        elif what == "load":
            touched = inside or outside
            origins.loaded(item, rows, active & (touched[2] >= 0), touched[2], inside is not None)
            if inside is not None:
                source = np.where(inside[2] >= 0, origins.at_home(inside[2]), -1)
        elif what == "store" and inside is not None:
            source = origins.stored(item, rows, active & (inside[2] >= 0), inside[2])
        elif inside is not None and inside[0] != "read":
            held = inside[2] >= 0
            origins.forget(inside[2][held], inside[3])
        cost = self.costs(item, counts, lanes.warps)
        for position, row in enumerate(rows[::32].tolist()):
            warp, own = self.warp_of(row), slice(32 * position, 32 * position + 32)
            if warp is None or not active[own].any():
                continue
            event = Event(site, warp, what)
            if what == "mma":
                event.shared_bytes = self.read_by_product(warp)
                event.corners = self.corners(item, rows[own])
            elif what == "tile":
                self.tile(event, own)
            else:
                event.width = (inside or outside)[3]
                event.outside, event.writes = outside is not None, (inside or outside)[0] != "read"
                event.source = None if source is None else source[own].copy()
                event.shared = None if inside is None else self.within(inside[2][own])
                if outside is not None and inside is None and not (event.source >= 0).any():
                    continue
                if inside is not None and not (event.shared >= 0).any():
                    continue
            event.waves, event.sectors = int(cost["waves"][position]), int(cost["sectors"][position])
            # The tables have the ideal where it is not obvious.
            event.ideal = int(cost["ideal"][position]) or self.ideal(event)
            if event.outside and not event.sectors and event.source is not None and not cost["sectors"].any():
                event.sectors = len(np.unique(event.source[event.source >= 0] // 32)) * -(-event.width // 32)
            self.add(event)

    @staticmethod
    def ideal(event: Event) -> int:
        if event.shared is None or not event.waves:
            return event.waves
        return -(-int((event.shared >= 0).sum()) * event.width // 128)

    @staticmethod
    def kind(item, outside, inside) -> str | None:
        if item.family == "wmma":
            return "mma" if item.parts[1] == "mma" else "tile"
        if item.family in ("mma", "wgmma", "tcgen05"):
            multiplies = item.family == "mma" or "mma_async" in item.parts or item.parts[1:2] == ("mma",)
            return "mma" if multiplies else None
        if outside is None and inside is None:
            return None
        if item.family == "cp":
            return "copy" if inside is not None else None
        if item.family in ("ldmatrix", "stmatrix"):
            return item.family
        return {"ld": "load", "ldu": "load", "st": "store"}.get(item.family, "atomic")

    def corners(self, item, rows) -> tuple[int, int]:
        """The addresses in global memory of the first elements of A and B of an mma."""
        if item.family != "mma" or len(item.operands) < 3:
            return -1, -1
        a, b = (registers_of(operand)[0] for operand in item.operands[1:3])
        return int(self.origins.of(a, rows[:1])[0]), int(self.origins.of(b, rows[:1])[0])

    def read_by_product(self, warp: int) -> np.ndarray | None:
        chunks = self.products_read.get(warp)
        return None if chunks is None else np.sort(self.within(np.concatenate(chunks)))

    def tile(self, event: Event, own: slice) -> None:
        """A wmma load or store: the chunks that its lanes touch."""
        for verb, in_shared, addresses, width in self.touches:
            part = addresses[own]
            part = np.unique(np.concatenate([part[part >= 0], part[part >= 0] + width - 1]) // 16 * 16)
            event.writes |= verb != "read"
            name = "shared_bytes" if in_shared else "outside_bytes"
            before = getattr(event, name)
            part = self.within(part) if in_shared else part
            setattr(event, name, part if before is None else np.union1d(before, part))
            event.outside |= not in_shared
        event.width = 16


def recorded(report, block: int) -> tuple[Log, Recorder]:
    """Run one block again, with the others of its cluster, and record it.

    Raises `SimulatedFault` if there is no such block, or if the launch ran on a server.
    """
    launch = report._launch
    if launch is None:
        raise SimulatedFault(
            "This launch ran on a server, which sends back counts and results alone. To look inside, run it here: "
            "unset GEMM_LAB_SERVER."
        )
    if not 0 <= block < launch.grid[0] * launch.grid[1] * launch.grid[2]:
        raise SimulatedFault(
            f"There is no block {block}; the grid is {' × '.join(map(str, launch.grid))}, counted from 0."
        )
    rank = launch.clusters.place(block) % launch.clusters.size
    program = launch.program
    probes = {
        site
        for site, item in enumerate(program.sites)
        if item.family in ACCESSES | PRODUCTS and not ELSEWHERE & set(item.parts)
    } | followed_sites(program)
    recorders: list[Recorder] = []

    def observer_of(resident):
        recorders.append(Recorder(resident, rank))
        return recorders[-1]

    again = launch.again(block, frozenset(probes), observer_of)
    again.patterns = CostOfWarps()
    again.execute()
    return recorders[0].log, recorders[0]
