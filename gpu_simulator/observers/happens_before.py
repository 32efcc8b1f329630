"""The happens-before order. Every access is an event with a number; `Ordering` tracks who may rely on which events.

Threads of a block are ordered by barriers, those of a cluster by barrier.cluster. Lanes of a warp are ordered by
`bar.warp.sync` (`__syncwarp`) and wgmma (`codegen.emitter.warp_meetings`); shuffles, votes, ldmatrix and mma order no
memory. Otherwise an atomic or volatile access publishes what came before the last fence, and an atomic or volatile read
by another thread acquires it. Between blocks the fence must be a `__threadfence`; within one block a
`__threadfence_block` is enough, and a volatile store needs none. The addresses of these accesses are not compared, so
the detector may miss races; it reports no false ones.
"""

from __future__ import annotations

import numpy as np

ALWAYS = 1  # the event before all others: what it stamps is ordered before everything
LANE_BITS = 32
LANE_MASK = (1 << LANE_BITS) - 1
_EVERYTHING = np.int64(1) << 62


class WarpEvents:
    """For every warp of a launch, the last of its events that it has published, and its last acquire.

    signalled: published to its own block.   released: published to other blocks.
    acquired: the last event at which the warp itself made an atomic or volatile read.
    """

    def __init__(self, warps: int):
        self.signalled, self.released, self.acquired = (np.full(warps, ALWAYS, np.int64) for _ in range(3))

    BYTES = 24


class Ordering:
    """The order of the accesses of one group of resident blocks, among themselves and after those of other groups.

    known[w, u]: the last event of warp u of the same cluster that warp w may rely on; all events if u is w itself.
    own, span: warps of a block and of a cluster; the same if every block is its own cluster.
    """

    def __init__(self, resident, published: WarpEvents):
        self.own, self.published = resident.warps_per_block, published
        self.span = self.own * resident.cluster_size
        self.first = resident.first_place * self.own  # number of the first resident warp in the launch
        here = slice(self.first, self.first + resident.warps)
        self.signalled, self.released = (
            x[here].reshape(-1, self.span) for x in (published.signalled, published.released)
        )
        self.acquired = published.acquired[here]
        self.known = np.full((resident.warps, self.span), ALWAYS, np.int64)
        self.local = np.arange(resident.warps) % self.span
        self.known[np.arange(resident.warps), self.local] = _EVERYTHING
        self.fenced, self.fenced_wide = (np.full(self.signalled.shape, ALWAYS, np.int64) for _ in range(2))
        self.synced = np.full(resident.lanes, ALWAYS, np.int64)  # by lane: event of its last synchronisation in a warp
        self.floor = ALWAYS  # without clusters: all threads of a block may rely on the block's events up to here
        self.warp_floor = ALWAYS  # all lanes of a warp may rely on the warp's events up to here

    # ---- Queries ----

    def unordered(self, lanes: np.ndarray, before: np.ndarray, one_block: bool):
        """Which of the accesses `before` do not happen before what the lanes do now: Boolean, or None if all do.

        lanes: (n, 1) lane numbers in the launch.   before: (n, parts), `event << 32 | lane`; 0 for no access.
        one_block: all of them were made by the block of the lane (or its cluster), as in shared memory.
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
        bad = self._suspects(lane, other, event)
        if not bad.any():
            return None
        out = np.zeros(before.shape, bool)
        out[rows[bad], columns[bad]] = True
        return out

    def _suspects(self, lane, other, event):
        """For pairs of different lanes: whether the lane is not ordered after that event of the other lane."""
        warp, source = lane >> 5, other >> 5
        row, published = warp - self.first, self.published
        here, one_block = warp // self.span == source // self.span, warp // self.own == source // self.own
        took_over = self.acquired[row] >= event
        knows = np.where(here, self.known[row, source % self.span], ALWAYS) >= event
        told = np.where(one_block, published.signalled[source], published.released[source]) >= event
        ordered = knows & here | told & took_over
        inside = np.flatnonzero(warp == source)
        if len(inside):
            first = 32 * self.first
            both = np.minimum(self.synced[lane[inside] - first], self.synced[other[inside] - first])
            both = np.maximum(both, self.floor)
            ordered[inside] = both >= event[inside]
            ordered[inside] |= (told & took_over)[inside]
        return ~ordered

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
        blocks = self.acquired.reshape(-1, self.own)
        blocks[:] = blocks.max(1, keepdims=True)

    def met(self, arrived: np.ndarray, events: np.ndarray, waited: np.ndarray) -> None:
        """Some warps of one block have synchronised. events: that of the arrival of each arrived warp.

        waited: the warps that waited; those that executed `bar.arrive` acquire nothing.
        """
        joined = self.known[arrived].max(0)
        joined[self.local[arrived]] = events
        self.known[waited] = np.maximum(self.known[waited], joined)
        self.acquired[waited] = max(self.acquired[arrived].max(), self.acquired[waited].max(initial=ALWAYS))

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

    def publish(self, rows: np.ndarray, event: int, in_block: bool, beyond: bool) -> None:
        """Some warps make an atomic or volatile access after `event`.

        in_block, beyond: whether it publishes without a fence before it, to its own block and to other blocks.
        """
        known, clusters = self.known_to(rows, event), rows // self.span
        np.maximum.at(self.signalled, clusters, known if in_block else np.minimum(known, self.fenced[clusters]))
        np.maximum.at(self.released, clusters, known if beyond else np.minimum(known, self.fenced_wide[clusters]))

    def acquire(self, rows: np.ndarray, event: int) -> None:
        """Some warps make an atomic or volatile read."""
        self.acquired[rows] = event
