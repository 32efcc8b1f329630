"""Warpgroups of the resident blocks: which lanes form one, and the wgmma that are in flight.

With timing "early" a product is done when it is issued. With "late" it is done, and shared memory read, when a
wait_group covers it; until then the accumulators keep their old values. PTX ISA, "wgmma.wait_group".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gpu_simulator.arithmetic.fragment_products import multiply, results
from gpu_simulator.faults import WarpgroupFault
from gpu_simulator.machine.branching import DONE
from gpu_simulator.machine.thread_ranges import spans
from gpu_simulator.ptx.wgmma_forms import THREADS, WARPS, WgmmaForm


@dataclass(eq=False)
class Flight:
    """One wgmma of some warpgroups. factors(where): A and B of those of `groups` that the mask picks.

    number: (groups,) wgmma-groups that each warpgroup had committed when it was issued.   left: (groups,) Boolean, the
    groups that have not waited yet.   scale: (groups,) Boolean, whether the accumulator is added.   key: of its matrix
    in `Warpgroups.matrices`.   copies: register to which an accumulator was moved -> number of the accumulator.
    """

    site: int
    kind: WgmmaForm
    groups: np.ndarray
    number: np.ndarray
    left: np.ndarray
    scale: np.ndarray
    factors: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]] | None
    key: tuple
    copies: dict[int, int] = field(default_factory=dict)


class Warpgroups:
    """The warpgroups: four consecutive warps, the first a multiple of 4 in its block. Numbered block by block."""

    def __init__(self, resident):
        self.resident, self.late = resident, resident.launch.timing == "late"
        warps = resident.warps_per_block
        self.each = -(-warps // WARPS)  # warpgroups of a block; the last may be incomplete
        number = np.arange(resident.warps)
        self.of_warp = number // warps * self.each + number % warps // WARPS
        self.count = resident.blocks * self.each
        self.committed = np.zeros(self.count, np.int64)
        self.flights: list[Flight] = []
        self.matrices: dict[tuple, np.ndarray] = {}  # accumulators in flight, by their registers: (count, 64, n)
        self.flying: dict[tuple, np.ndarray] = {}  # (count,) how many wgmma of the matrix are in flight
        self.landed: dict[tuple, list] = {}

    # ---- Who executes ----

    def ready(self, here: np.ndarray) -> np.ndarray | None:
        """Of the lanes at an instruction of warpgroups, those whose whole warpgroup has arrived; None for none."""

        away = (~here & (self.resident.pc != DONE)).reshape(-1, 32).any(1)
        waiting = np.zeros(self.count, bool)
        waiting[self.of_warp[away]] = True
        here = (here.reshape(-1, 32) & ~waiting[self.of_warp][:, None]).reshape(-1)
        return here if here.any() else None

    def groups(self, lanes, site: int) -> np.ndarray:
        """Numbers of the executing warpgroups. Raises `WarpgroupFault` if one is incomplete."""
        found = lanes.__dict__.get("_warpgroups")
        if found is None:
            warps = np.arange(self.resident.warps) if lanes.chosen is None else lanes.chosen
            of = self.of_warp[warps]
            number, count = np.unique(of, return_counts=True)
            whole = count == WARPS
            if lanes.mask is not None:
                active = lanes.mask.reshape(-1, 32).all(1)
                whole &= np.array([active[of == n].all() for n in number])
            if not whole.all():
                self.incomplete(int(number[np.argmin(whole)]), site)
            found = lanes.__dict__["_warpgroups"] = number
        return found

    def some(self, lanes, mask) -> np.ndarray:
        """Numbers of the warpgroups with at least one executing lane."""
        warps = np.arange(self.resident.warps) if lanes.chosen is None else lanes.chosen
        return np.unique(self.of_warp[warps if mask is None else warps[mask.reshape(-1, 32).any(1)]])

    def incomplete(self, group: int, site: int):
        block, local = divmod(group, self.each)
        resident, threads = self.resident, self.resident.threads
        first = local * THREADS
        lanes = slice(block * 32 * resident.warps_per_block + first, None)
        if first + THREADS > threads:
            why = f"has {threads - first} threads, as the block ends with thread {threads - 1}"
        else:
            why = "is not complete: some of its threads have ended, or the condition differs between them"
        name = resident.name_lane(int(resident.all_lanes[lanes][0])).split(", thread")[0]
        item, last = resident.program.sites[site], first + THREADS - 1
        raise WarpgroupFault(
            f"{resident.launch.describe(item)}: warpgroup {local} of {name} (threads {first}-{last}) {why}. "
            f"All 128 threads of a warpgroup execute {'.'.join(item.parts[:2])} together."
        )

    def name(self, group: int) -> str:
        """Block and warpgroup, in words."""
        block, local = divmod(group, self.each)
        lane = block * 32 * self.resident.warps_per_block
        return f"{self.resident.name_lane(lane).split(', thread')[0]}, warpgroup {local}"

    def stuck(self, index: int) -> str:
        """Why no warpgroup can execute a basic block that needs whole warpgroups, in words."""

        resident = self.resident
        block = resident.program.blocks[index]
        here = np.flatnonzero(resident.pc == index)
        group = int(self.of_warp[here[0] // 32])
        mine = np.flatnonzero(np.repeat(self.of_warp, 32) == group)
        away = mine[(resident.pc[mine] != index) & (resident.pc[mine] != DONE)]
        item = next(item for item in block.code if item.family == "wgmma")
        return (
            f"{resident.launch.describe(item)}: {self.name(group)} cannot execute {'.'.join(item.parts[:2])}, as its "
            f"threads {spans(resident.thread_of_lane[away])} are elsewhere: all 128 threads of a warpgroup have to "
            f"come to it. {resident.barriers.explain()}"
        )

    # ---- Instructions ----

    def fence(self, lanes, site: int) -> None:
        groups = self.groups(lanes, site)
        for observer in self.resident.observers:
            observer.wgmma_fence(site, groups)

    def issue(self, lanes, site: int, kind: WgmmaForm, c, scale, factors, sources):
        """Issue a wgmma; returns the accumulators (warps, 16, n) that the registers hold from now on.

        factors(where): A and B of the executing warpgroups that `where` picks, (picked, 64, k) and (picked, k, n).
        sources: as for `Observer.wgmma_issued`.
        """
        groups = self.groups(lanes, site)
        observers = self.resident.observers
        if self.late or observers:
            flight = Flight(
                site,
                kind,
                groups,
                self.committed[groups],
                np.ones(len(groups), bool),
                scale,
                factors if self.late else None,
                self._key(groups, kind),
            )
            for observer in observers:
                observer.wgmma_issued(flight, sources)
            self.flights.append(flight)
        if not self.late:
            everyone = np.ones(len(groups), bool)
            c = c.reshape(len(groups), 64, -1)
            return added(c, *factors(everyone), scale, kind, self.resident.sum_rule).reshape(-1, 16, kind.n)
        self._hold(groups, kind, flight.key, c)
        return c

    def _key(self, groups, kind: WgmmaForm) -> tuple:
        """The key of the accumulators' matrix: that of a wgmma in flight if it uses them, or they are moved from it."""
        for flight in reversed(self.flights):
            same = flight.kind.d == kind.d or [flight.copies.get(r) for r in kind.d] == list(range(len(kind.d)))
            if same and flight.kind.n == kind.n and np.isin(groups, flight.groups[flight.left]).any():
                return flight.key
        return kind.d

    def _hold(self, groups, kind: WgmmaForm, key: tuple, c) -> None:
        flying = self.flying.setdefault(key, np.zeros(self.count, np.int64))
        matrix = self.matrices.get(key)
        if matrix is None:
            matrix = self.matrices[key] = np.zeros((self.count, 64, kind.n), c.dtype)
            self.resident.take(matrix.nbytes, "accumulators in flight")
        new = flying[groups] == 0
        matrix[groups[new]] = c.reshape(len(groups), 64, -1)[new]
        flying[groups] += 1

    def moved(self, lanes, to: int, source: int) -> None:
        """A register was copied to another: a copy of an accumulator in flight is in flight as well."""
        groups = self.some(lanes, lanes.mask)
        for flight in self.flights:
            number = flight.kind.d.index(source) if source in flight.kind.d else flight.copies.get(source)
            if number is not None and np.isin(groups, flight.groups[flight.left]).any():
                flight.copies[to] = number
            else:
                flight.copies.pop(to, None)

    def commit(self, lanes, site: int) -> None:
        groups = self.groups(lanes, site)
        self.committed[groups] += 1
        for observer in self.resident.observers:
            observer.wgmma_committed(site, groups)

    def wait(self, lanes, site: int, newest: int) -> None:
        """Complete all but the `newest` wgmma-groups of each executing warpgroup."""
        groups = self.groups(lanes, site)
        if not self.flights:
            return
        bound = np.full(self.count, -1, np.int64)
        bound[groups] = self.committed[groups] - newest
        for flight in self.flights:
            done = flight.left & (flight.number < bound[flight.groups])
            if done.any():
                self.land(flight, done)
        self.flights = [flight for flight in self.flights if flight.left.any()]

    def land(self, flight: Flight, done: np.ndarray) -> None:
        flight.left = flight.left & ~done
        groups, key = flight.groups[done], flight.key
        if self.late:
            matrix = self.matrices[key]
            matrix[groups] = added(
                matrix[groups], *flight.factors(done), flight.scale[done], flight.kind, self.resident.sum_rule
            )
            self.flying[key][groups] -= 1
            mask = self.landed.setdefault(flight.kind.d, [flight, np.zeros(self.count, bool)])[1]
            mask[groups], self.landed[flight.kind.d] = True, [flight, mask]
        for observer in self.resident.observers:
            observer.wgmma_waited(flight, done)

    def take(self, lanes, site: int, numbers: tuple, values: tuple) -> tuple:
        """The values of the registers `numbers` after a wait: accumulators that are complete get their new values."""
        groups, out = self.groups(lanes, site), dict(zip(numbers, values, strict=True))
        for flight, mask in self.landed.values():
            positions, kind = np.flatnonzero(mask[groups]), flight.kind
            tiles = self.matrices[flight.key][groups[positions]].reshape(-1, 16, kind.n)
            dtype = np.uint32 if kind.form[5] == "f16" else tiles.dtype
            here = (positions[:, None] * THREADS + np.arange(THREADS)).reshape(-1)
            whole = len(here) == lanes.n
            landed = results(_Count(len(here)), tiles, 1, kind.n // 8, kind.form, dtype)
            copies = [(register, landed[number]) for register, number in flight.copies.items()]
            for number, value in (*zip(kind.d, landed, strict=True), *copies):
                old = out[number]
                value = value if value.dtype == old.dtype else value.view(old.dtype)
                if not whole:
                    new = np.full(lanes.n, old) if old.ndim == 0 else old.copy()
                    new[here] = value
                    value = new
                out[number] = value
        self.landed = {}
        return tuple(out.values())


class _Count:
    """The part of `Lanes` that `results` uses."""

    def __init__(self, n: int):
        self.n = n


def added(c, a, b, scale, kind: WgmmaForm, rule_of):
    """The accumulators after one instruction. scale: (groups,) Boolean, whether the old ones are added."""
    if not scale.any():
        c = None
    elif not scale.all():
        c = np.where(scale[:, None, None], c, c.dtype.type(0))
    return multiply(a, b, c, kind.form, rule_of, "wgmma")


__all__ = ["Flight", "Warpgroups"]
