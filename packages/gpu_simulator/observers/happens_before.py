"""The happens-before order. Every access is an event with a number; `Ordering` tracks who may rely on which events.

Threads of a block are ordered by barriers, those of a cluster by barrier.cluster. Lanes of a warp are ordered by
`bar.warp.sync` (`__syncwarp`) and wgmma (`codegen.emitter.warp_meetings`); shuffles, votes, ldmatrix and mma order no
memory. Otherwise threads are ordered by strong accesses, which are atomic, volatile, relaxed, acquire and release ones
(PTX ISA, "Memory Consistency Model"). It takes three steps, and a missing one is reported:

- the writer publishes: a fence and then a strong write, or a release. A fence of the block reaches its block only;
- the reader sees it: a strong read of the place after that write;
- the reader acquires: a fence after that read, or an acquire.

Each step is followed place by place and lane by lane (`publications`). In two points more is allowed than by the letter
of the model, as hardware gives it and much code relies on it: a fence before a barrier also counts for the threads that
meet there, and so does a strong read before a barrier.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gpu_simulator.observers.publications import (
    NO_PAST,
    Chain,
    Holders,
    Past,
    Publication,
    Told,
    after_fence,
    and_seen,
    heard_of_block,
    known,
    sees,
    union,
)
from gpu_simulator.observers.warp_meetings import WarpMeetings

ALWAYS = 1  # the event before all others: what it stamps is ordered before everything
LANE_BITS = 32
LANE_MASK = (1 << LANE_BITS) - 1
_EVERYTHING = np.int64(1) << 62


class Ordering:
    """The order of the accesses of one group of resident blocks, among themselves and after those of other groups.

    known[w, u]: the last event of warp u of the same cluster that warp w may rely on; all events if u is w itself.
    told: what the threads have from others by strong accesses.   saw: by lane, the last strong write that it has read.
    fenced[0][w, u], fenced[1][w, u]: the last event of warp u that some fence of block, or of wider scope, covers, and
    warp w knows of that fence.   version[w]: increased whenever warp w may publish more than before.
    own, span: warps of a block and of a cluster; the same if every block is its own cluster.
    strong: by lane, the event of its last strong write.   wrote[w]: what warp w knew then, as known[w].
    strong_writes: as strong, by warp of the launch.
    """

    def __init__(self, resident, strong_writes: dict[int, int], account):
        self.own, self.strong_writes, self.account = resident.warps_per_block, strong_writes, account
        self.span = self.own * resident.cluster_size
        self.first = resident.first_place * self.own  # number of the first resident warp in the launch
        self.known = np.full((resident.warps, self.span), ALWAYS, np.int64)
        self.local = np.arange(resident.warps) % self.span
        self.known[np.arange(resident.warps), self.local] = _EVERYTHING
        self.strong = np.full(resident.lanes, ALWAYS, np.int64)
        self.told, self.saw = Holders(), self.strong.copy()
        self.wrote = np.full(self.known.shape, ALWAYS, np.int64)
        self.fenced: list[np.ndarray] = []  # made by the first fence
        self.version = np.zeros(resident.warps, np.int64)
        self.taken = 0  # bytes of arrays that end with these blocks; publications outlive them
        self.meetings = WarpMeetings(resident.lanes, ALWAYS, self._take)
        self.synced = self.meetings.synced
        self.floor = ALWAYS  # without clusters: all threads of a block may rely on the block's events up to here
        self.warp_floor = ALWAYS  # all lanes of a warp may rely on the warp's events up to here

    def _take(self, size: int) -> None:
        self.account(size)
        self.taken += size

    # ---- Queries ----

    def unordered(self, lanes: np.ndarray, before: np.ndarray, one_block: bool, seen: np.ndarray | None = None):
        """Which of the accesses `before` do not happen before what the lanes do now: Boolean, or None if all do.

        lanes: (n, 1) lane numbers in the launch.   before: (n, parts), `event << 32 | lane`; 0 for no access.
        one_block: all of them were made by the block of the lane (or its cluster), as in shared memory.
        seen: Boolean, shaped like `before`: those that are ordered as soon as the lane has seen what was published.
        """
        floor = self.floor if one_block else ALWAYS
        if int(before.max(initial=0)) >> LANE_BITS <= floor:
            return None
        event, others = before >> LANE_BITS, before & LANE_MASK
        suspects = (others != lanes) & (event > floor)
        if self.warp_floor > floor:
            suspects &= (event > self.warp_floor) | (others >> 5 != lanes >> 5)
        if not suspects.any():
            return None
        rows, columns = np.nonzero(suspects)
        lane, other, event = lanes[rows, 0], others[rows, columns], event[rows, columns]
        bad = self._suspects(lane, other, event, None if seen is None else seen[rows, columns])
        if not bad.any():
            return None
        out = np.zeros(before.shape, bool)
        out[rows[bad], columns[bad]] = True
        return out

    def _suspects(self, lane, other, event, seen):
        """For pairs of different lanes: whether the lane is not ordered after that event of the other lane."""
        warp, source = lane >> 5, other >> 5
        row = warp - self.first
        here = warp // self.span == source // self.span
        knows = np.where(here, self.known[row, source % self.span], ALWAYS) >= event
        ordered = knows & here
        inside = np.flatnonzero(warp == source)
        if len(inside):
            first = 32 * self.first
            both = self.meetings.pairs(lane[inside] - first, other[inside] - first)
            ordered[inside] = np.maximum(both, self.floor) >= event[inside]
        left = np.flatnonzero(~ordered)
        if len(left) and self.told.any():
            ordered[left] = self._told(lane[left], other[left], event[left], None if seen is None else seen[left])
        return ~ordered

    def _told(self, lane, other, event, seen) -> np.ndarray:
        """Whether lanes are ordered after events of other lanes by strong accesses."""
        asked: dict[tuple, bool] = {}
        first, found = 32 * self.first, []
        marks = np.zeros(len(lane), bool) if seen is None else seen
        for number, *one, mark in zip(lane.tolist(), other.tolist(), event.tolist(), marks.tolist(), strict=True):
            told = self.told.of(number - first)
            key = (id(told), number >> 5, *one, mark)
            if key not in asked:
                past = and_seen(told) if mark else told.past
                cluster = (one[0] >> 5) // self.span
                asked[key] = known(past, (number >> 5) // self.own, one[0], cluster, one[1])
            found.append(asked[key])
        return np.array(found)

    def missing_step(self, lane: int, other: int, event: int) -> str:
        """What a lane lacks to be ordered after an event of another lane by strong accesses.

        "acquire": it has seen a later publication.   "publish": the other lane, or one that is ordered after the event,
        made a strong write later, and the lane has seen one, but there is no fence before it.   "": neither.
        """
        if self._told(np.array([lane]), np.array([other]), np.array([event]), np.array([True]))[0]:
            return "acquire"
        first = 32 * self.first
        seen, place = self._saw(lane - first), other - first
        if not 0 <= place < len(self.saw):  # its block has ended
            return "publish" if min(seen, self.strong_writes.get(other >> 5, ALWAYS)) > event else ""
        row = place >> 5
        block = slice(row // self.own * self.own, (row // self.own + 1) * self.own)
        before = self.wrote[block, self.local[row]] >= event
        before[row % self.own] |= self.strong[place] > event
        times = self.strong.reshape(-1, 32)[block].max(1)
        return "publish" if (before & (times > event) & (times <= seen)).any() else ""

    def heard_of_block(self, lane: int, other: int, before: int) -> bool:
        """Whether a lane relies on what a thread of another block has published after a write of that block.

        before: `event << 32 | lane` of the write, by the lane `other`.
        """
        block, past = 32 * self.own, self.told.of(lane - 32 * self.first).past
        return heard_of_block(past, lane // block, other // block, before >> LANE_BITS)

    def _saw(self, lane: int) -> int:
        """The last strong write that a lane has read, or another lane before the two met."""
        warp = slice(lane & ~31, (lane | 31) + 1)
        saw, met = self.saw[warp], self.meetings.of(np.array([lane]))[0]
        others = saw[saw <= np.maximum(met, self.floor)]
        return int(max(self.saw[lane], others.max(initial=ALWAYS)))

    # ---- Synchronisation ----

    def everyone(self, event: int) -> None:
        """All threads of every resident block have synchronised at a barrier of their block."""
        if self.span == self.own:
            self.floor = event
            self.known[:] = event
        else:
            self.synced[:] = event
            joined = self.known.reshape(-1, self.own, self.span)
            joined[:] = joined.max(1, keepdims=True)
            rows = np.arange(len(self.known))
            own = rows[:, None] // self.own * self.own % self.span + np.arange(self.own)
            self.known[rows[:, None], own] = event
        self.known[np.arange(len(self.known)), self.local] = _EVERYTHING
        for array in (*self.fenced, self.saw.reshape(-1, 32)):
            blocks = array.reshape(-1, self.own, array.shape[1])
            blocks[:] = blocks.max(1, keepdims=True)
        self.version += 1
        for block in {warp // self.own for warp in self.told.warps} | {
            lane // (32 * self.own) for lane in self.told.lanes
        }:
            warps = np.arange(block * self.own, (block + 1) * self.own)
            self.told.join(warps, warps)

    def met(self, arrived: np.ndarray, events: np.ndarray, waited: np.ndarray) -> None:
        """Some warps of one block have synchronised. events: that of the arrival of each arrived warp.

        waited: the warps that waited; those that executed `bar.arrive` acquire nothing.
        """
        joined = self.known[arrived].max(0)
        joined[self.local[arrived]] = events
        self.known[waited] = np.maximum(self.known[waited], joined)
        for array in (*self.fenced, self.saw.reshape(-1, 32)):
            array[waited] = np.maximum(array[arrived].max(0), array[waited])
        self.version[waited] += 1
        if self.told.any():
            self.told.join(arrived, waited)

    def warp_met(self, lanes, members, beside: np.ndarray, event: int) -> None:
        """The executing lanes of each warp have synchronised with those that give the same membermask.

        beside: lanes that stand at another barrier of the same constant mask, and of which some meet these.
        """
        numbers = lanes.lane_numbers()[lanes.active()]
        if members is not None and members.ndim:
            members = members[lanes.active()]
        elif len(beside):
            numbers = np.union1d(numbers, beside[np.isin(beside >> 5, numbers >> 5)])
        for some in self.meetings.meet(numbers, members, event):
            if len(some) == len(self.synced):
                self.warp_floor = event
            if self.told.split:
                self.told.meet(some)
        self.version[np.unique(numbers >> 5)] += 1

    def known_to(self, rows: np.ndarray, event: int) -> np.ndarray:
        """(rows, warps of the cluster): the last events that these warps know of; `event` for their own."""
        known = self.known[rows]
        known[np.arange(len(rows)), self.local[rows]] = event
        return known

    def known_to_warp(self, row: int) -> np.ndarray:
        """(warps of the cluster,) the last events of each warp's common instructions that a warp may rely on.

        What one lane is known to have executed with its whole warp, all of its lanes have executed.
        """
        clock = self.known[row].copy()
        for lane, event in self.told.of_warp(row).past.lanes.items():
            warp = lane >> 5
            if warp // self.span == (row + self.first) // self.span:
                clock[warp % self.span] = max(clock[warp % self.span], event)
        return clock

    def known_to_lanes(self, numbers: np.ndarray, event: int):
        """What some lanes can publish: of their own warps only what they did or what they met the others after.

        Returns (rows, (rows, warps of the cluster) last events of whole warps, {lane: event} of single lanes which
        are later than those of their warp; lanes as they are numbered in the launch).
        """
        rows, count = np.unique(numbers >> 5, return_counts=True)
        clocks, single = self.known_to(rows, event), {}
        part = np.flatnonzero(count < 32)
        if len(part):
            warps, some = rows[part], numbers[np.repeat(count, count) < 32]
            at = np.searchsorted(warps, some >> 5)
            lanes = np.full((len(warps), 32), self.floor)
            np.maximum.at(lanes, at, self.meetings.of(some))
            lanes[at, some & 31] = event
            clocks[part, self.local[warps]] = lanes.min(1)
            later = np.argwhere(lanes > lanes.min(1, keepdims=True))
            first = 32 * self.first
            single = {first + 32 * int(warps[row]) + lane: int(lanes[row, lane]) for row, lane in later.tolist()}
        return rows, clocks, single

    # ---- Strong accesses ----

    def fence(self, numbers: np.ndarray, event: int, wide: bool) -> None:
        """Some lanes execute `__threadfence` (wide) or `__threadfence_block`."""
        if not self.fenced:
            self._take(2 * self.known.nbytes)
            self.fenced = [np.full(self.known.shape, ALWAYS, np.int64) for _ in range(2)]
        rows, clocks, single = self.known_to_lanes(numbers, event)
        for array in self.fenced if wide else self.fenced[:1]:
            array[rows] = np.maximum(array[rows], clocks)
        self.version[rows] += 1
        if single or self.told.any():
            executing, first = {*numbers.tolist()}, 32 * self.first
            by_warp: dict[int, dict[int, int]] = {}
            for lane, last in single.items():
                if lane - first not in executing:
                    by_warp.setdefault((lane - first) >> 5, {})[lane] = last

            def fenced(told: Told, lane: int) -> Told:
                own = {} if lane < 0 else {**by_warp.get(lane >> 5, {}), first + lane: event}
                return after_fence(told, wide, own)

            self.told.change(numbers, fenced)

    def see(self, numbers: np.ndarray, chains: Sequence[Chain | None], events: np.ndarray, near: bool, far: bool):
        """Lanes make strong reads. chains: of the places that they read.   events: of the last strong writes there.

        near, far: whether the read is an acquire, for the lane's own block and for others.
        """
        self.saw[numbers] = np.maximum(self.saw[numbers], events)
        one = {*chains}
        if len(one) == 1 and len({*events.tolist()}) == 1:
            (chain,) = one
            if chain is not None:
                self.told.change(numbers, lambda told, lane: sees(told, chain, int(events[0]), near, far))
            return
        for at, chain in enumerate(chains):
            if chain is not None:
                event = int(events[at])
                self.told.change(
                    numbers[at : at + 1],
                    lambda told, lane, chain=chain, event=event: sees(told, chain, event, near, far),
                )

    def strong_write(self, numbers: np.ndarray, event: int) -> None:
        """Note who makes a strong write, and what it knows then, for messages."""
        rows, clocks, _ = self.known_to_lanes(numbers, event)
        self.strong[numbers], self.wrote[rows] = event, clocks
        self.strong_writes.update(dict.fromkeys((rows + self.first).tolist(), event))

    def publish(self, lane: int, event: int, near: bool, far: bool) -> list[Publication]:
        """What a lane publishes by a strong write. near, far: it is a release, for its own block and for others."""
        row, told, column = lane >> 5, self.told.of(lane), self.local[lane >> 5]
        both, made = np.maximum(self.meetings.of(np.array([lane]))[0], self.floor), []

        def add(clock: np.ndarray, own: int, past: Past, wide: bool) -> None:
            lanes = np.minimum(both, own)
            lanes[lane & 31] = own
            self.account(clock.nbytes + lanes.nbytes)
            warp = row + self.first
            made.append(Publication(event, warp, warp // self.own, warp // self.span, wide, clock, lanes, past))

        if near:
            add(self.known[row].copy(), event - 1, told.past, far)
        if self.fenced and not far:
            kinds = [(self.fenced[1][row], told.fenced_wide, True), (self.fenced[0][row], told.fenced, False)]
            if np.array_equal(kinds[0][0], kinds[1][0]) and kinds[0][1] == kinds[1][1]:
                kinds.pop()
            for clock, past, wide in kinds:
                if past != NO_PAST or clock.max() > ALWAYS:
                    add(clock.copy(), int(clock[column]), past, wide)
        return made

    def told_by(self, numbers: np.ndarray, single: dict[int, int]) -> Told:
        """What some lanes can pass on to others when they synchronise with them. single: as from `known_to_lanes`."""
        own = Told({}, Past({}, single), NO_PAST, NO_PAST)
        if not self.told.any():
            return own
        whole = [self.told.of_warp(warp) for warp in np.unique(numbers >> 5).tolist() if warp not in self.told.split]
        return union([own, *whole, *(self.told.of(lane) for lane in numbers.tolist() if lane >> 5 in self.told.split)])

    def take(self, numbers: np.ndarray, told: Told) -> None:
        """Some lanes have synchronised with threads that had this."""
        if told.seen or told.past != NO_PAST:
            self.told.change(numbers, lambda old, lane: union([old, told]))
        self.version[np.unique(numbers >> 5)] += 1
