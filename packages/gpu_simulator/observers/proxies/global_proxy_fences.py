"""Finds copies that read global memory which threads wrote, without a proxy fence in between.

As in shared memory (`proxy_fences`), threads write through the generic proxy, and bulk and tensor copies read through
the async proxy. Less is asked here: some thread of the cluster of the writer, or of that of the reader, has executed
fence.proxy.async after the write. So a fence that comes too late for the copy may be missed; no false one is reported.
Data that the launch began with needs none.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.observers.access import Access
from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS, LANE_MASK
from gpu_simulator.observers.publications import Past, known
from gpu_simulator.observers.race_messages import block_of, thread_of


class GlobalProxyFences:
    """Part of the `RaceDetector` of one group of resident blocks.

    covered: (lanes,) the last event of each lane that a fence covers; None before the first fence.
    acquired: by resident warp, what it had from strong accesses of others at its last fence.
    """

    def __init__(self, detector):
        self.detector, self.resident = detector, detector.resident
        self.hazards, self.order = detector.hazards, detector.order
        self.covered: np.ndarray | None = None
        self.acquired: dict[int, Past] = {}

    def executed(self, rows: np.ndarray, covers: np.ndarray, some: np.ndarray | None, event: int) -> None:
        """Some lanes execute a fence. Parameters as in `ProxyFences.fences`."""
        order = self.order
        if self.covered is None:
            self.covered = np.full(self.resident.lanes, ALWAYS, np.int64)
        clusters = self.covered.reshape(-1, order.span, 32)
        np.maximum.at(clusters, rows // order.span, covers[:, :, None])
        if some is not None:
            self.covered[some] = event
        if order.told.any():
            self.acquired.update({row: order.told.of_warp(row).past for row in rows.tolist()})

    def check(self, access: Access, last) -> None:
        """Check a copy that is being issued. last: the last writes, shaped like `access.cells`."""
        event = last >> LANE_BITS
        generic = (event > ALWAYS) & ~self.hazards.bulk[self.hazards.site_of[event]]
        if not generic.any():
            return
        cluster = (int(access.lanes[0, 0]) - self.detector.first_lane) // (32 * self.order.span)
        for stamp in np.unique(last[generic]).tolist():
            if not self._covers(cluster, stamp & LANE_MASK, stamp >> LANE_BITS):
                self._report(access, stamp, *np.argwhere(last == stamp)[0])
                return

    def _covers(self, reader: int, lane: int, event: int) -> bool:
        """Whether a fence follows a write, in the cluster of its lane or in that of the reader, a resident one."""
        order, place = self.order, lane - self.detector.first_lane
        if not 0 <= place < self.resident.lanes:
            if self.hazards.proxy_fenced.get(lane >> 5, ALWAYS) >= event:
                return True
        elif self.covered is not None and self.covered[place] >= event:
            return True
        first, cluster = order.first // order.own, (lane >> 5) // order.span
        pasts = [(row, past) for row, past in self.acquired.items() if row // order.span == reader]
        return any(known(past, first + row // order.own, lane, cluster, event) for row, past in pasts)

    def _report(self, access: Access, stamp: int, row, column) -> None:
        other, words = int(self.hazards.site_of[stamp >> LANE_BITS]), self.detector.words(access, row, column)
        launch, writer = self.resident.launch, stamp & LANE_MASK
        if say := self.hazards.new("missing fence", access.site, other):
            say(
                f"{words.here(access.site)} lets a copy through the async proxy read {words.place}, which "
                f"{block_of(launch, writer)}, {thread_of(launch, writer)} wrote at {words.site(other)}: no "
                "fence.proxy.async of global memory stands between them. The threads that wrote have to execute it "
                "after their stores, or the thread that starts the copy when it knows of the stores."
            )

    def ended(self) -> None:
        """The blocks have ended: keep for later ones what the fences of each warp cover."""
        if self.covered is not None:
            covered = self.covered.reshape(-1, 32).max(1)
            rows = np.flatnonzero(covered > ALWAYS)
            warps = (rows + self.order.first).tolist()
            self.hazards.proxy_fenced.update(zip(warps, covered[rows].tolist(), strict=True))
