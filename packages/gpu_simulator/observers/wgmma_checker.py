"""Finds hazards of wgmma: uses of registers and shared memory that a wgmma in flight still uses, and missing fences.

Registers: threads must not use the accumulators and the registers of A until a wait_group covers the wgmma, and what
they did with these registers before is visible to it only after a wgmma.fence. ptxas repairs some of this by waiting at
once (its warning C7510); the rules here are those of the PTX ISA, "wgmma.fence" and "wgmma.wait_group".

Shared memory is read through the async proxy: what threads wrote needs fence.proxy.async, and every warp of the
warpgroup has to have waited for what copies wrote. No thread may write to the operands before the wait_group. After it,
each of the four warps may publish that the operands have been read.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.machine.asynchronous.warpgroups import Flight
from gpu_simulator.observers.access import Access
from gpu_simulator.observers.happens_before import LANE_BITS
from gpu_simulator.observers.race_messages import Words
from gpu_simulator.ptx.wgmma_forms import WARPS

CHUNK_SHIFT = 4


class WgmmaChecker:
    """Part of the `RaceDetector` of one group of resident blocks. Warpgroups are numbered as in `Warpgroups`."""

    def __init__(self, detector):
        self.detector, self.hazards, self.time = detector, detector.hazards, 0
        self.resident = resident = detector.resident
        self.groups = resident.warpgroups
        self.fenced = np.zeros(self.groups.count, np.int64)  # time of the last wgmma.fence; 0 for none
        self.used: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # register -> time and site of the last use by threads
        self.matrices: dict[tuple, tuple[np.ndarray, np.ndarray]] = {}  # accumulators -> the same of the last wgmma
        # For each 16 bytes of shared memory, how many wgmma in flight read them.
        self.reading = np.zeros((len(resident.shared.data) >> CHUNK_SHIFT) + 1, np.int32)
        resident.take(self.reading.nbytes, "the hazards' record of wgmma")
        self.busy = 0
        self.reads: dict[Flight, list] = {}  # wgmma in flight -> the 16-byte chunks that each of its groups reads

    # ---- Registers ----

    def wgmma_fence(self, site: int, groups) -> None:
        self.time += 1
        self.fenced[groups] = self.time

    def wgmma_registers_used(self, lanes, site: int, registers: tuple, verb: str, mask) -> None:
        """Check threads that use registers of accumulators or of A. verb: as for `Observer.wgmma_registers_used`."""
        groups = self.groups.some(lanes, mask)
        for flight in self.groups.flights:
            self._in_flight(site, flight, groups, registers, verb)
        if verb == "sets":
            return
        self.time += 1
        for register in registers:
            time, sites = self._used(register)
            time[groups], sites[groups] = self.time, site

    def wgmma_register_moved(self, lanes, to: int, source: int, mask) -> None:
        """A plain move: the last use of the source becomes that of the destination."""
        groups = self.groups.some(lanes, mask)
        for mine, other in zip(self._used(to), self._used(source), strict=True):
            mine[groups] = other[groups]

    def _used(self, register: int):
        found = self.used.get(register)
        if found is None:
            found = self.used[register] = np.zeros(self.groups.count, np.int64), np.zeros(self.groups.count, int)
        return found

    def _in_flight(self, site: int, flight, groups, registers, verb: str) -> None:
        kind = flight.kind
        common = [r for r in registers if r in kind.d or r in kind.a or r in flight.copies]
        if not common:
            return
        mine = flight.groups[flight.left]
        both = mine[np.isin(mine, groups)]
        if len(both):
            what = "a register of A" if common[0] in kind.a else "an accumulator"
            if say := self.hazards.new("missing wait", site, flight.site):
                say(
                    f"{self.resident.describe(site)}: {self.groups.name(int(both[0]))} {verb} "
                    f"{self._register(common[0])}, {what} of {self.resident.describe(flight.site)}, which may still be "
                    "in flight: wgmma.commit_group and a wgmma.wait_group that covers it have to come before."
                )

    def _registers_of(self, flight) -> None:
        """Check the registers of a wgmma that is being issued."""
        kind, site, groups = flight.kind, flight.site, flight.groups
        fenced = self.fenced[groups]
        if not fenced.all():
            group = int(groups[np.argmin(fenced)])
            if say := self.hazards.new("missing fence", site):
                say(
                    f"{self.resident.describe(site)}: {self.groups.name(group)} has executed no wgmma.fence before its "
                    "first wgmma: it sees the registers of the warpgroup only after one."
                )
        for register in (*kind.d, *kind.a):
            found = self.used.get(register)
            if found is None:
                continue
            bad = found[0][groups] > fenced
            if bad.any() and fenced[np.argmax(bad)]:
                group = int(groups[np.argmax(bad)])
                self._unfenced(site, group, int(found[1][group]), f"{self._register(register)},")
                break
        for key, (time, sites) in self.matrices.items():
            if key == kind.d or not set(key).intersection((*kind.d, *kind.a)):
                continue
            bad = time[groups] > fenced
            if bad.any():
                group = int(groups[np.argmax(bad)])
                self._unfenced(site, group, int(sites[group]), "accumulators, as those of another shape,")
        for earlier in self.groups.flights:
            crossed = {*kind.a}.intersection(earlier.kind.d) | {*kind.d}.intersection(earlier.kind.a)
            if earlier.key != flight.key:
                crossed |= {*kind.a, *kind.d}.intersection(earlier.copies)
            if crossed:
                self._in_flight(site, earlier, groups, sorted(crossed), "takes")
        self.time += 1
        time, sites = self.matrices.setdefault(
            kind.d, (np.zeros(self.groups.count, np.int64), np.zeros(self.groups.count, int))
        )
        time[groups], sites[groups] = self.time, site

    def _unfenced(self, site: int, group: int, other: int, what: str) -> None:
        if say := self.hazards.new("missing fence", site, other):
            say(
                f"{self.resident.describe(site)}: {self.groups.name(group)} takes {what} which it used at "
                f"{self.resident.describe(other)}, and no wgmma.fence stands between the two."
            )

    # ---- Shared memory ----

    def wgmma_issued(self, flight, sources) -> None:
        """Check a wgmma that is being issued. sources: as for `Observer.wgmma_issued`."""
        self._registers_of(flight)
        self.hazards.next_event(flight.site)
        count = len(flight.groups)
        index = np.concatenate([source.reshape(count, -1) for source in sources], axis=1)
        reads = []
        for group, own in zip(flight.groups.tolist(), index, strict=True):
            own = np.unique(own)
            self._operands(flight.site, group, own)
            self.reading[own] += 1
            self.busy += 1
            reads.append(own)
        self.reads[flight] = reads

    def _operands(self, site: int, group: int, index) -> None:
        """Check the operands that one warpgroup reads in shared memory. index: of their 16-byte chunks."""
        detector, shadow = self.detector, self.detector.shared
        cells = shadow.cells(index, 16, len(index))
        lane = self._first_warp(group) * 32 + detector.first_lane

        def access(warp: int) -> Access:
            return Access(site, "reads", shadow, None, np.full((len(cells), 1), lane + 32 * warp), cells)

        last, first = shadow.written[cells], access(0)
        if detector.check_shared(first, last):
            return
        stamps = np.unique(last)
        stamps = stamps[stamps >> LANE_BITS > detector.order.floor]
        for warp in range(WARPS if len(stamps) else 0):
            bad = detector.order.unordered(np.full((len(stamps), 1), lane + 32 * warp), stamps[:, None], True)
            if bad is not None:
                detector.check(access(warp), np.where(np.isin(last, stamps[bad[:, 0]]), last, 0), "wrote")
                break
        does, warps = "reads {place} through the async proxy", lane + 32 * np.arange(WARPS)  # all need the fence
        detector.fences.check(first, last, does, warps, names_writer=True)

    def overwritten(self, access: Access) -> bool:
        """Check a write to shared memory; True if a wgmma in flight reads there."""
        chunks = access.cells * access.shadow.cell >> CHUNK_SHIFT
        bad = self.reading[chunks] > 0
        if not bad.any():
            return False
        row, column = np.argwhere(bad)[0]
        place, words = int(chunks[row, column]), self.detector.words(access, row, column)
        for flight in self.groups.flights:
            for at, own in enumerate(self.reads.get(flight, ())):
                if flight.left[at] and (own == place).any():
                    self._overwrites(words, access, flight, int(flight.groups[at]))
                    return True
        return False

    def _overwrites(self, words: Words, access: Access, flight, group: int) -> None:
        who = self.groups.name(group).rsplit(", ", 1)[1]
        if say := self.hazards.new("missing wait", access.site, flight.site):
            say(
                f"{words.here(access.site)} {access.verb} {words.place} while {self.resident.describe(flight.site)} of "
                f"{who} may still be reading it: {who} has to wait (wgmma.wait_group) before it lets anyone write "
                "there."
            )

    def wgmma_waited(self, flight, done) -> None:
        """Some groups of a wgmma have waited for it."""
        detector, order, shadow = self.detector, self.detector.order, self.detector.shared
        event = self.hazards.next_event(flight.site)
        for at in np.flatnonzero(done).tolist():
            index, warp = self.reads[flight][at], self._first_warp(int(flight.groups[at]))
            self.reading[index] -= 1
            self.busy -= 1
            cells = shadow.cells(index, 16, len(index))
            lane = np.full((len(cells), 1), 32 * warp + detector.first_lane)
            shadow.note_read(cells, lane, np.int64(event) << LANE_BITS | lane)
            rows, own = np.arange(warp, warp + WARPS), order.local[warp]
            order.known[rows, own] = np.maximum(order.known[rows, own], event)
        if not flight.left.any():
            del self.reads[flight]

    def in_flight_at_end(self, flights) -> None:
        """Report wgmma that are in flight when the blocks have ended."""
        for flight in flights:
            group = int(flight.groups[np.argmax(flight.left)])
            if say := self.hazards.new("missing wait", flight.site):
                say(
                    f"{self.resident.describe(flight.site)}: {self.groups.name(group)} ends while this wgmma may still "
                    "be in flight: no wgmma.wait_group covers it."
                )

    # ---- Pieces ----

    def _first_warp(self, group: int) -> int:
        """The resident warp that is the first of a group."""
        block, local = divmod(group, self.groups.each)
        return block * self.resident.warps_per_block + local * WARPS

    def _register(self, number: int) -> str:
        return f"register {self.resident.program.registers[number].name}"


__all__ = ["WgmmaChecker"]
