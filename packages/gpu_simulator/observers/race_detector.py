"""Checks each access of one group of resident blocks against the last write and the last reads of its cells.

If neither access happens before the other (`happens_before`), it is a race, whatever their order in this run. A
cp.async counts as an agent of its own: no thread may access its destination until the thread that issued it has waited,
and then only that thread and those that are ordered after the wait.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.machine.barriers import Arrival
from gpu_simulator.machine.mbarrier_messages import last_wait
from gpu_simulator.machine.memory import around_a_byte, within_variable
from gpu_simulator.machine.observer import Observer
from gpu_simulator.observers.absent_lanes import AbsentLanes
from gpu_simulator.observers.access import Access, by_array, bytes_of
from gpu_simulator.observers.barrier_phases import BarrierPhases
from gpu_simulator.observers.cluster_checker import ClusterChecker
from gpu_simulator.observers.global_copies import GlobalCopies
from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS, LANE_MASK, Ordering
from gpu_simulator.observers.proxies.async_proxy_checker import AsyncProxyChecker
from gpu_simulator.observers.proxies.proxy_fences import ProxyFences
from gpu_simulator.observers.race_messages import BLOCKS, LANES, Words, changed, explain, in_flight, reach_of
from gpu_simulator.observers.register_shares import RegisterShares
from gpu_simulator.observers.severities import ERROR, RACE, SUSPICIOUS
from gpu_simulator.observers.shadow_memory import FILLED, FREE, READ, WIDEST, SharedShadow
from gpu_simulator.observers.strong_order import StrongOrder
from gpu_simulator.observers.struct_padding import is_padding
from gpu_simulator.observers.tcgen05.checker import Tcgen05Checker
from gpu_simulator.observers.unwritten.later_stores import later_store
from gpu_simulator.observers.wgmma_checker import WgmmaChecker


class RaceDetector(Observer):
    """Observer of all events that affect the order of accesses. Those of asynchronous units go to their checkers."""

    def __init__(self, resident, hazards):
        super().__init__(resident)
        self.hazards, self.ignores_discarded = hazards, True
        self.order = Ordering(
            resident,
            hazards.strong_writes,
            lambda more: resident.account.take(more, "the hazards' record of every warp"),
        )
        self.first_lane = 32 * self.order.first
        size, account = len(resident.shared.data), resident.account
        self.shared = SharedShadow(
            size, lambda more: account.take(more, "the hazards' record of shared memory"), self.order
        )
        cells = self.shared.written[: resident.blocks * resident.shared_stride // WIDEST].reshape(resident.blocks, -1)
        cells[:, : resident.program.reserved // WIDEST] = ALWAYS << LANE_BITS  # the system has written there
        self.strong, self.copied = StrongOrder(self), GlobalCopies(self)
        self.copies: list = []
        # By lane: the first group that its last wait_group leaves in flight, and the event before that wait.
        self.wait_bound, self.wait_event = (np.zeros(resident.lanes, np.int64) for _ in range(2))
        self.arrivals: dict[Arrival, int] = {}  # arrival at a barrier -> its event
        self.phases = BarrierPhases(self)
        self.fences = ProxyFences(self)
        self.proxies = AsyncProxyChecker(self)
        self.clusters, self.tensor = ClusterChecker(self), Tcgen05Checker(self)
        self.shares = RegisterShares(self)
        self.warpgroups = None if resident.warpgroups is None else WgmmaChecker(self)
        self.absent = AbsentLanes(self)
        self.exchanged = np.full(resident.lanes, ALWAYS, np.int64)  # by lane, the last shfl, vote, match or redux
        checkers = [self.absent, self.fences, self.proxies, self.clusters, self.tensor, self.copied, self.shares]
        for checker in (*checkers, self.warpgroups):
            self._hand_on(checker)

    def _hand_on(self, checker) -> None:
        """Bind each event for which a checker has a method of the same name directly to that method."""
        for event in vars(Observer).keys() & vars(type(checker)).keys():
            if not event.startswith("_"):
                setattr(self, event, getattr(checker, event))

    def ended(self) -> None:
        self.proxies.in_flight_at_end(self.resident.transfers.stores)
        self.shares.compare()
        self.fences.of_global.ended()
        if self.warpgroups is not None:
            self.warpgroups.in_flight_at_end(self.resident.warpgroups.flights)
        self.resident.account.give(self.shared.taken + self.order.taken)

    # ---- Accesses ----

    def _lanes(self, lanes, picked) -> np.ndarray:
        numbers = lanes.lane_numbers() if picked is None else lanes.lane_numbers()[picked]
        return numbers[:, None] + self.first_lane

    def _accesses(self, site, verb: str, lanes, memory, index, width: int, values=None):
        """Yield an `Access` for each allocation that the lanes use."""
        count, now, old = len(lanes), None, None
        if values is not None:
            now = bytes_of(values, count, width)
            old = bytes_of(memory.views[width][index], count, width)
        if memory is self.resident.shared:
            yield Access(site, verb, self.shared, None, lanes, self.shared.cells(index, width, count), now, old)
            return
        for number, positions, inside in by_array(memory, index, width):
            shadow, some = self.hazards.array(number), slice(None) if positions is None else positions
            here = lanes[some]
            contents = (None, None) if now is None else (now[some], old[some])
            cells = shadow.cells(inside, width, len(here))
            yield Access(site, verb, shadow, memory.names[number], here, cells, *contents)

    def read(self, lanes, site: int, memory, index, picked, width: int) -> None:
        hazards = self.hazards
        if hazards.constant[site]:
            return
        numbers, event, strong = self._lanes(lanes, picked), hazards.next_event(site), hazards.accesses.scope[site]
        for access in self._accesses(site, "reads", numbers, memory, index, width):
            last = access.shadow.written[access.cells]
            if strong:
                self.strong.see(access, last)
            if hazards.read_only[site]:
                self._changed(access, last, "wrote")
            if not self.check_shared(access, last):
                self.check(access, last, "wrote")
            if access.shadow is not self.shared:
                if access.shadow.hidden is not None and not strong:
                    self.check(access, access.shadow.hidden[access.cells], "wrote")
                self.copied.check(access)
                if hazards.copies[site]:
                    self.copied.reads_source(access)
            access.shadow.note_read(access.cells, access.lanes, np.int64(event) << LANE_BITS | access.lanes)

    def write(self, lanes, site: int, memory, index, picked, width: int, values=None) -> None:
        hazards = self.hazards
        numbers, event, strong = self._lanes(lanes, picked), hazards.next_event(site), hazards.accesses.scope[site]
        if values is not None and values.ndim and picked is not None:
            values = values[picked]
        for access in self._accesses(site, "writes", numbers, memory, index, width, values):
            flying = self.check_shared(access, None)
            if access.shadow is self.shared:
                self.proxies.over_mbarrier(access)
            else:
                self.copied.check(access)
            written, stamp = access.shadow.written, np.int64(event) << LANE_BITS | access.lanes
            if not flying:
                self.check(access, written[access.cells], "wrote")
            self.check_readers(access)
            if strong:
                self.strong.publish(access, None, event)
            written[access.cells] = stamp
            if not strong:
                self._check_together(access, stamp)

    def freed(self, lane: int, site: int, number: int, size: int) -> None:
        """Check that all accesses to an allocation of the heap happen before a lane frees it. size: in bytes."""
        shadow = self.hazards.array(number)
        self.hazards.next_event(site)
        cells, name = shadow.cells(np.array(0), size, 1), self.resident.launch.memory.names[number]
        access = Access(site, "frees", shadow, name, np.array([[lane + self.first_lane]]), cells, None, None)
        self.check(access, shadow.written[cells], "wrote")
        self.check_readers(access)

    def atomic(self, lanes, site: int, memory, index, picked, width: int) -> None:
        """Check an atomic access: atomics do not race with other strong accesses, but with weak ones."""
        hazards = self.hazards
        numbers, event = self._lanes(lanes, picked), hazards.next_event(site)
        reads = self.resident.program.sites[site].family == "atom"
        for access in self._accesses(site, "updates", numbers, memory, index, width):
            last = access.shadow.written[access.cells]
            self.check_shared(access, last)
            self.check(access, last, "wrote")
            if access.shadow is not self.shared:
                self.copied.check(access)
            self.check_readers(access)
            self.strong.publish(access, last, event)
            if reads:
                self.strong.see(access, last, event)
            stamp = np.broadcast_to(np.int64(event) << LANE_BITS | access.lanes, access.cells.shape)
            access.shadow.written[access.cells] = stamp
            if access.shadow is not self.shared:
                access.shadow.hide(access.cells, access.lanes, last)
                access.shadow.hide(access.cells, access.shadow.written[access.cells] & LANE_MASK, stamp)
            self.strong.check_scope(access)

    def _changed(self, access: Access, before, past: str) -> None:
        """Report ld.global.nc (`__ldg`) of what the kernel writes; the unit that reads it may hold old data."""
        found = np.argwhere(before >> LANE_BITS > ALWAYS)
        if not len(found):
            return
        row, column = found[0]
        other = int(self.hazards.site_of[before[row, column] >> LANE_BITS])
        words = self.words(access, row, column)
        if say := self.hazards.new("read-only load", access.site, other):
            say(changed(words, access.site, access.verb, past, other))

    # ---- Checks ----

    def check(self, access: Access, before, past: str) -> None:
        """Report a race if some of the accesses `before` do not happen before this one.

        before: shaped like `access.cells`, as for `Ordering.unordered`.   past: what they did, "wrote" or "read".
        """
        seen = None
        if self.hazards.accesses.any:
            before, seen = self.strong.weak_pairs(access, before, past)
        bad = self.order.unordered(access.lanes, before, access.shadow is self.shared, seen)
        if bad is None:
            return
        equal = access.unchanged() & (past == "wrote")
        bad &= ~(equal & (access.lanes >> 5 == (before & LANE_MASK) >> 5))  # the same value: harmless within a warp
        if bad.any():
            found = bad & ~equal if (bad & ~equal).any() else bad
            wide = found & (access.lanes >> 5 != (before & LANE_MASK) >> 5)  # what orders warps also orders their lanes
            row, column = np.argwhere(wide if wide.any() else found)[0]
            self.race(access, row, column, int(before[row, column]), past, bool(equal[row, 0]), False)

    def check_readers(self, access: Access) -> None:
        for before in access.shadow.readers(access.cells, access.lanes):
            if self.hazards.any_read_only:
                self._changed(access, self._read_only(before), "read")
            self.check(access, before, "read")

    def _read_only(self, before):
        """The reads among `before` that are ld.global.nc."""
        return np.where(self.hazards.read_only[self.hazards.site_of[before >> LANE_BITS]], before, 0)

    def _check_together(self, access: Access, stamp) -> None:
        """Report lanes that store to one place in the same instruction, as the order of their stores is undefined."""
        last = access.shadow.written[access.cells[:, :1]]
        lost = np.flatnonzero(last != stamp)
        if not len(lost):
            return
        lanes = access.lanes[:, 0]
        winner = np.searchsorted(lanes, last[lost, 0] & LANE_MASK)
        equal = access.equal(lost, winner)
        bad = np.flatnonzero(~equal | (lanes[lost] >> 5 != lanes[winner] >> 5))
        if len(bad):
            at = bad[np.argmin(equal[bad])]
            self.race(access, lost[at], 0, int(last[lost[at], 0]), "wrote", bool(equal[at]), True)

    def race(self, access: Access, row, column, before: int, past: str, equal: bool, together: bool) -> None:
        other = int(self.hazards.site_of[before >> LANE_BITS])
        words, lane = self.words(access, row, column), before & LANE_MASK
        step = self.order.missing_step(words.lane, lane, before >> LANE_BITS)
        strength = self.hazards.accesses.mixed(access.site, other)
        reach, passed_on = reach_of(words.launch, words.lane, lane), False
        if reach == LANES and not together and self._exchanged_since(before, words.lane, lane):
            passed_on = past == "read" and access.verb == "writes" and self.hazards.passed_on(other)
            step = "passed on" if passed_on else "exchanged"
        read, updated = (other, access.site) if past == "read" else (access.site, other)
        if not step and past == "wrote" and reach == BLOCKS and self.order.heard_of_block(words.lane, lane, before):
            step = "counted"
        guessed = bool(self.hazards.accesses.atomic[updated]) and self.hazards.guessed(read)
        step = "guessed" if guessed else step
        if say := self.hazards.new(
            "race", access.site, other, reach=reach, severity=SUSPICIOUS if equal or passed_on or guessed else RACE
        ):
            say(explain(words, access.site, access.verb, lane, past, other, equal, together, step or strength))

    def _exchanged_since(self, before: int, lane: int, other: int) -> bool:
        """Whether two lanes of one warp have met in their last shfl, vote, match or redux, after an access of one."""
        met, other_met = (int(self.exchanged[one - self.first_lane]) for one in (lane, other))
        return met == other_met > before >> LANE_BITS

    def check_shared(self, access: Access, last) -> bool:
        """Check for uninitialised reads, and in shared memory for asynchronous operations in flight.

        last: the last writes, or None if it does not matter that there are none.
        Returns True if a copy that an mbarrier counts, a wgmma or a tcgen05.mma is in flight; a race with it need not
        be reported as well.
        """
        if access.shadow is not self.shared:
            if access.shadow.unset:
                self.check_written(access, last)
            return False
        flying = False
        if self.copies or self.hazards.uses_bulk:
            bad = self.shared.pending[access.cells]
            if access.verb == "reads":
                bad = bad == FILLED
            if bad.any():
                flying = self._in_flight(access, *np.argwhere(bad)[0])
        if access.verb != "reads" and self.warpgroups is not None and self.warpgroups.busy:
            flying |= self.warpgroups.overwritten(access)
        if access.verb != "reads":
            flying |= self.tensor.overwritten(access)
        self.check_written(access, last)
        return flying

    def check_written(self, access: Access, last) -> None:
        """Report a read of what nothing has written. last: the last writes, or None if it does not matter."""
        if last is None or last.all():
            return
        if around_a_byte(self.resident.program.sites[access.site]):
            last = np.broadcast_to(last.max(1, keepdims=True), last.shape)  # the bytes beside it stay as they are
            if last.all():
                return
        row, column = np.argwhere(last == 0)[0]
        words = self.words(access, row, column)
        program, site, later = self.resident.program, access.site, ""
        if access.shadow is self.shared and access.verb == "reads":
            at = int(access.cells[row, column]) * access.shadow.cell % self.resident.shared_stride
            later = later_store(self.resident, access.lanes - self.first_lane, words.lane - self.first_lane, at)
        padding = access.verb == "reads" and self.hazards.may_copy_padding(site) and is_padding(program, site, last)
        if say := self.hazards.new("uninitialised read", access.site, severity=SUSPICIOUS if padding else ERROR):
            say(
                f"{words.here(access.site)} {access.verb} {words.place}, which {later or 'nothing has written'}."
                + " The lanes of a warp do not keep step; it needs __syncwarp() between the two." * bool(later)
                + " What is read is only copied: if it is the padding of a struct, it does no harm." * padding
            )

    def _in_flight(self, access: Access, row, column) -> bool:
        cell = int(access.cells[row, column])
        other = int(self.hazards.site_of[self.shared.written[cell] >> LANE_BITS])
        words, load, held = self.words(access, row, column), self.proxies.filling(cell), self.shared.pending[cell]
        barrier = None if load is None else load.key[1]
        other = other if load is None else load.site
        missing, waited = self._groups_missing(cell), ""
        if load is not None:
            waited = last_wait(self.resident.mbarriers, load.key, load.phase, words.lane - self.first_lane)
        if say := self.hazards.new("missing wait", access.site, other):
            say(in_flight(words, access, other, held == READ, barrier, load and load.phase, missing) + waited)
        return load is not None

    def words(self, access: Access, row, column) -> Words:
        at = int(access.cells[row, column]) * access.shadow.cell
        resident, lane = self.resident, int(access.lanes[row, 0])
        if access.name:
            names = resident.launch.names
            place = names.element(access.name, at) or f"byte {at:,} of {names.array(access.name)}"
            return Words(resident.launch, lane, place, False)
        block, at = divmod(at, resident.shared_stride)
        foreign = block != resident.block_of_lane[lane - self.first_lane]
        place = f"shared address {at}{f' of {resident.name_block(block)}' if foreign else ''}"
        variable = within_variable(resident, at)
        return Words(resident.launch, lane, f"{variable} ({place})" if variable else place)

    # ---- cp.async ----

    def copy_issued(self, lanes, site: int, index, picked, width: int) -> None:
        shadow, event, numbers = self.shared, self.hazards.next_event(site), self._lanes(lanes, picked)
        access = Access(site, "writes", shadow, None, numbers, shadow.cells(index, width, len(numbers)))
        self.check_shared(access, None)
        self.check(access, shadow.written[access.cells], "wrote")
        self.check_readers(access)
        shadow.written[access.cells] = np.int64(event) << LANE_BITS | numbers
        shadow.pending[access.cells] = FILLED
        own = numbers[:, 0] - self.first_lane
        self.copied.issued(site, width)
        self.copies.append(
            (own, np.broadcast_to(index, len(own)), width, self.resident.groups.committed[own].copy(), site)
        )

    def _groups_missing(self, cell: int) -> int | None:
        """How many groups too few the last wait_group covers after the cp.async that writes a cell, by its thread.

        0 if it has executed none since; None if it has, but has not committed the copy.
        """
        event, lane = divmod(int(self.shared.written[cell]), 1 << LANE_BITS)
        lane -= self.first_lane
        for lanes, index, width, group, _ in reversed(self.copies):
            for at in np.flatnonzero(lanes == lane).tolist():
                if cell in self.shared.cells(index[at], width, 1):
                    if self.wait_event[lane] < event:
                        return 0
                    committed = group[at] < self.resident.groups.committed[lane]
                    return int(group[at] + 1 - self.wait_bound[lane]) if committed else None
        return 0

    def copies_waited(self, bounds: np.ndarray) -> None:
        """Copies of groups before `bounds` are complete; they count as writes that their threads make now."""
        left, shadow, waits = [], self.shared, bounds >= 0
        self.wait_bound[waits], self.wait_event[waits] = bounds[waits], self.hazards.event
        self.copied.waited(bounds)
        for lanes, index, width, group, site in self.copies:
            done = group < bounds[lanes]
            if done.any():
                landed = shadow.cells(index[done], width, int(done.sum()))
                shadow.pending[landed] = FREE
                event = self.hazards.next_event(site)
                shadow.written[landed] = np.int64(event) << LANE_BITS | (lanes[done] + self.first_lane)[:, None]
            if not done.all():
                left.append((lanes[~done], index[~done], width, group[~done], site))
        self.copies = left

    # ---- Synchronisation ----

    def fence(self, lanes, wide: bool) -> None:
        numbers = self._lanes(lanes, lanes.picked)[:, 0] - self.first_lane
        if len(numbers):
            self.order.fence(numbers, self.hazards.event, wide)

    def warps_met(self, lanes, members=None) -> None:
        beside = np.flatnonzero(self.resident.let_go) if self.resident.program.twins else np.zeros(0, np.int64)
        self.order.warp_met(lanes, members, beside, self.hazards.event)

    def warps_exchanged(self, lanes, site: int, members) -> None:
        active, members = lanes.active(), np.broadcast_to(members, lanes.n)
        for mask in np.unique(members[active]).tolist():
            self.exchanged[lanes.lane_numbers()[active & (members == mask)]] = self.hazards.next_event(site)

    def barrier_everyone(self, site: int, number: int) -> None:
        self.phases.everyone(number, site)
        self.order.everyone(self.hazards.event)

    def barrier_arrived(self, arrival: Arrival) -> None:
        warps = np.unique(arrival.lanes >> 5).tolist()
        self.phases.arrived((arrival.block, arrival.number), warps, arrival.site, arrival.expected)
        self.arrivals[arrival] = self.hazards.next_event(arrival.site)
        self.absent.arrived(arrival)

    def barrier_met(self, arrivals: list[Arrival]) -> None:
        events: dict[int, int] = {}
        self.absent.met(arrivals)
        for arrival in arrivals:
            event = self.arrivals.pop(arrival)
            for warp in np.unique(arrival.lanes >> 5).tolist():
                events[warp] = max(events.get(warp, 0), event)
        arrived = np.array(sorted(events))
        waiting = [arrival.lanes for arrival in arrivals if arrival.following is not None]
        unheard = 0 if waiting else sum(len(arrival.lanes) for arrival in arrivals)
        self.phases.met((arrivals[0].block, arrivals[0].number), events, unheard)
        lanes = np.concatenate(waiting) if waiting else np.zeros(0, np.int64)
        self.order.met(arrived, np.array([events[warp] for warp in arrived.tolist()]), np.unique(lanes >> 5))
        self.order.synced[lanes] = self.hazards.event
        sites = sorted({arrival.site for arrival in arrivals})
        counted = any(arrival.expected is not None for arrival in arrivals)  # the instruction gives a thread count
        if not counted and len(sites) > 1:
            describe = self.resident.describe
            if say := self.hazards.new("divergent barrier", sites[1], sites[0], severity=SUSPICIOUS):
                say(
                    f"{describe(sites[1])}: threads of one block met at different __syncthreads(); "
                    f"the others stood at "
                    f"{describe(sites[0])}. Every thread of the block must reach the same one."
                )
