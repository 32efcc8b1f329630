"""The happens-before order. Every access is an event with a number; `Ordering` tracks who may rely on which events.

Threads of a block are ordered by barriers, those of a cluster by barrier.cluster. Lanes of a warp are ordered by
`bar.warp.sync` (`__syncwarp`) and wgmma (`codegen.emitter.warp_meetings`); shuffles, votes, ldmatrix and mma order no
memory. Otherwise threads are ordered by strong accesses, which are atomic, volatile, relaxed, acquire and release ones
(PTX ISA, "Memory Consistency Model"). It takes three steps, and a missing one is reported:

- the writer publishes: a fence and then a strong write, or a release. A fence of the block reaches its block only;
- the reader sees it: a strong read of the place after that write;
- the reader acquires: a fence after that read, or an acquire.

A thread that acquires after it has seen a write at event t counts as ordered after all that any thread had published
by then. That is more than the model grants if the places differ, so the detector may miss a race; it reports no false
ones.
"""

from __future__ import annotations

import numpy as np

ALWAYS = 1  # the event before all others: what it stamps is ordered before everything
LANE_BITS = 32
LANE_MASK = (1 << LANE_BITS) - 1
_EVERYTHING = np.int64(1) << 62


# Columns of `Ordering.taken`, each an event: the latest strong write that a warp has seen, and up to where it has
# acquired what was published to its own block, and to all.
SEEN, ACQUIRED, ACQUIRED_WIDE = range(3)


class Publications:
    """What the clusters of a launch have published, and when: the history of a vector clock for each cluster.

    wide: published to all blocks; otherwise to the publisher's own block alone.
    """

    def __init__(self, account):
        self.account = account
        self.history: dict[tuple[int, bool], tuple[list[int], list[np.ndarray]]] = {}
        self.last: dict[int, int] = {}  # warp of the launch -> its last strong write

    def add(self, cluster: int, wide: bool, time: int, clock: np.ndarray) -> None:
        """Note that accesses up to `clock`, an event for each warp of the cluster, are published at `time`."""
        times, clocks = self.history.setdefault((cluster, wide), ([0], [np.full(len(clock), ALWAYS, np.int64)]))
        merged = np.maximum(clocks[-1], clock)
        if (merged > clocks[-1]).any():
            self.account(merged.nbytes)
            times.append(time)
            clocks.append(merged)

    def until(self, time: np.ndarray, cluster: np.ndarray, warp: np.ndarray, wide: np.ndarray) -> np.ndarray:
        """For each entry, the last event that a warp of a cluster had published at a time, to its block or to all."""
        found = np.full(len(time), ALWAYS, np.int64)
        for number, reach in {*zip(cluster.tolist(), wide.tolist(), strict=True)}:
            known = self.history.get((number, reach))
            if known is not None:
                some = np.flatnonzero((cluster == number) & (wide == reach))
                at = np.searchsorted(known[0], time[some], side="right") - 1
                for place in np.unique(at).tolist():
                    here = some[at == place]
                    found[here] = known[1][place][warp[here]]
        return found


class Ordering:
    """The order of the accesses of one group of resident blocks, among themselves and after those of other groups.

    known[w, u]: the last event of warp u of the same cluster that warp w may rely on; all events if u is w itself.
    taken[w]: what warp w has from other threads by strong accesses, as the columns SEEN, ACQUIRED and ACQUIRED_WIDE.
    own, span: warps of a block and of a cluster; the same if every block is its own cluster.
    """

    def __init__(self, resident, published: Publications):
        self.own, self.published = resident.warps_per_block, published
        self.span = self.own * resident.cluster_size
        self.first = resident.first_place * self.own  # number of the first resident warp in the launch
        self.known = np.full((resident.warps, self.span), ALWAYS, np.int64)
        self.local = np.arange(resident.warps) % self.span
        self.known[np.arange(resident.warps), self.local] = _EVERYTHING
        self.taken = np.full((resident.warps, 3), ALWAYS, np.int64)
        shape = (resident.warps // self.span, self.span)
        self.fenced, self.fenced_wide = (np.full(shape, ALWAYS, np.int64) for _ in range(2))
        self.synced = np.full(resident.lanes, ALWAYS, np.int64)  # by lane: event of its last synchronisation in a warp
        self.floor = ALWAYS  # without clusters: all threads of a block may rely on the block's events up to here
        self.warp_floor = ALWAYS  # all lanes of a warp may rely on the warp's events up to here

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
        told = self._told(row, source, event, seen)
        ordered = knows & here | told
        inside = np.flatnonzero(warp == source)
        if len(inside):
            first = 32 * self.first
            both = np.minimum(self.synced[lane[inside] - first], self.synced[other[inside] - first])
            both = np.maximum(both, self.floor)
            ordered[inside] = (both >= event[inside]) | told[inside]
        return ~ordered

    def _told(self, row, source, event, seen) -> np.ndarray:
        """Whether warps are ordered after an event of another warp by strong accesses."""
        if not self.published.history:
            return np.zeros(len(event), bool)
        wide = (row + self.first) // self.own != source // self.own
        time = self.taken[row, np.where(wide, ACQUIRED_WIDE, ACQUIRED)]
        if seen is not None:
            time = np.where(seen, self.taken[row, SEEN], time)
        told = np.zeros(len(event), bool)
        late = np.flatnonzero(time > event)  # an access is published after it has been made
        if len(late):
            warp = source[late]
            told[late] = (
                self.published.until(time[late], warp // self.span, warp % self.span, wide[late]) >= event[late]
            )
        return told

    def missing_step(self, lane: int, other: int, event: int) -> str:
        """What a lane lacks to be ordered after an event of another lane by strong accesses.

        "acquire": it has seen a later publication.   "publish": the other's warp made a strong write later, and the
        lane has seen one, but there is no fence before it.   "": it has seen neither.
        """
        row, source = np.array([(lane >> 5) - self.first]), np.array([other >> 5])
        if self._told(row, source, np.array([event]), np.array([True]))[0]:
            return "acquire"
        later = min(self.taken[row[0], SEEN], self.published.last.get(other >> 5, ALWAYS))
        return "publish" if later > event else ""

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
        blocks = self.taken.reshape(-1, self.own, 3)
        blocks[:] = blocks.max(1, keepdims=True)

    def met(self, arrived: np.ndarray, events: np.ndarray, waited: np.ndarray) -> None:
        """Some warps of one block have synchronised. events: that of the arrival of each arrived warp.

        waited: the warps that waited; those that executed `bar.arrive` acquire nothing.
        """
        joined = self.known[arrived].max(0)
        joined[self.local[arrived]] = events
        self.known[waited] = np.maximum(self.known[waited], joined)
        self.taken[waited] = np.maximum(self.taken[arrived].max(0), self.taken[waited].max(0, initial=ALWAYS))

    def warp_met(self, lanes, event: int) -> None:
        """The executing lanes of each warp have synchronised."""
        if lanes.full:
            self.synced[:] = self.warp_floor = event
        else:
            self.synced[lanes.lane_numbers()[lanes.active()]] = event

    def known_to(self, rows: np.ndarray, event: int) -> np.ndarray:
        """(rows, warps of the cluster): the last events that these warps can publish; `event` for their own."""
        known = self.known[rows]
        known[np.arange(len(rows)), self.local[rows]] = event
        return known

    def fence(self, rows: np.ndarray, event: int, wide: bool) -> None:
        """Some warps execute `__threadfence` (wide) or `__threadfence_block`."""
        known, clusters = self.known_to(rows, event), rows // self.span
        np.maximum.at(self.fenced, clusters, known)
        if wide:
            np.maximum.at(self.fenced_wide, clusters, known)
        self.acquire(rows, wide)

    def publish(self, rows: np.ndarray, event: int, in_block: bool, beyond: bool) -> None:
        """Some warps make a strong write, the event `event`.

        in_block, beyond: whether it is a release, which publishes without a fence, for its own block and for others.
        """
        known, first = self.known_to(rows, event - 1), self.first // self.span
        self.published.last.update(dict.fromkeys((rows + self.first).tolist(), event))
        for wide, free, fenced in ((False, in_block, self.fenced), (True, beyond, self.fenced_wide)):
            for cluster in np.unique(rows // self.span).tolist():
                clock = known[rows // self.span == cluster].max(0)
                if not free:
                    clock = np.minimum(clock, fenced[cluster])
                self.published.add(first + cluster, wide, event, clock)

    def see(self, rows: np.ndarray, events: np.ndarray) -> None:
        """Warps make strong reads; the last strong writes of the places that they read were these events."""
        np.maximum.at(self.taken[:, SEEN], rows, events)

    def acquire(self, rows: np.ndarray, wide: bool) -> None:
        """Some warps execute a fence or an acquire: they may rely on all that was published when they saw it."""
        self.taken[rows, ACQUIRED] = self.taken[rows, SEEN]
        if wide:
            self.taken[rows, ACQUIRED_WIDE] = self.taken[rows, SEEN]
