"""Finds hazards between the blocks of a cluster: accesses not ordered by barrier.cluster, and accesses to the shared
memory of a block that may not have started yet or may have ended.

An arrival publishes what its warp did before (.release, the default). A .relaxed arrival publishes only what came
before a fence of cluster scope; for the init of an mbarrier fence.mbarrier_init is enough. A wait acquires what was
published. PTX ISA, "barrier.cluster" and "membar/fence".

"Accessing data in distributed shared memory requires all the thread blocks to exist", and it is `cluster.sync()` that
tells that they have started. CUDA C++ Programming Guide, "Distributed Shared Memory".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.machine.branching import DONE
from gpu_simulator.observers.happens_before import ALWAYS, LANE_BITS, LANE_MASK
from gpu_simulator.observers.publications import NOTHING, union


class Round:
    """What the arrivals of one round publish, each as the last event of every warp of the cluster.

    clock: all accesses.   inits: the inits of mbarriers alone.   met: as `Tcgen05Order.reach`.
    told: what the threads that arrived pass on of what they have from strong accesses.
    """

    def __init__(self, span: int):
        self.clock, self.inits, self.met = (np.full(span, ALWAYS, np.int64) for _ in range(3))
        self.told = NOTHING


class ClusterChecker:
    """Part of the `RaceDetector` of one group of resident blocks.

    inits[w, u]: warp w may rely on each mbarrier.init of warp u of the same cluster up to this event.
    used[b, u]: the last event at which warp u of another block of the cluster used the shared memory of block b.
    begun[w]: `event << 32 | lane` of the first wait at barrier.cluster of a lane of warp w; 0 for none.
    sure: pairs of a lane and a block that the lane knows to have started.
    """

    def __init__(self, detector):
        self.detector, self.resident = detector, detector.resident
        self.hazards, self.order = detector.hazards, detector.order
        order, resident = detector.order, detector.resident
        self.meetings: dict[tuple[int, int], Round] = {}
        self.inits = np.full(order.known.shape, ALWAYS, np.int64)
        self.used = np.zeros((resident.blocks, order.span), np.int64)
        self.begun = np.zeros(resident.warps, np.int64)
        self.sure: set[tuple[int, int]] = set()
        self.users: dict[tuple[int, int], tuple[int, int]] = {}  # (block, warp of the cluster) -> (site, lane)
        self.ended = np.zeros(resident.blocks, bool)

    # ---- barrier.cluster ----

    def cluster_arrived(self, site: int, numbers, rounds) -> None:
        barrier, parts = self.resident.cluster_barrier, self.resident.program.sites[site].parts
        blind = numbers[barrier.waited[numbers] < rounds - 1]
        if len(blind):
            self._arrived_blindly(site, int(blind[0]))
        places = np.stack([barrier.cluster_of_lane[numbers], rounds])
        for cluster, turn in np.unique(places, axis=1).T.tolist():
            some = numbers[(places[0] == cluster) & (places[1] == turn)]
            self._arrived(some, cluster, turn, "relaxed" in parts)

    def _arrived(self, lanes, cluster: int, turn: int, relaxed: bool) -> None:
        """Publish what threads of one cluster did before they arrive for a round."""
        meeting = self.meetings.setdefault((cluster, turn), Round(self.order.span))
        order = self.order
        rows, clocks, single = order.known_to_lanes(lanes, self.hazards.event)
        known = clocks.max(0)
        np.maximum(meeting.inits, np.minimum(known, self.detector.fences.init_fenced[cluster]), out=meeting.inits)
        np.maximum(meeting.met, self.detector.tensor.between.reach(lanes), out=meeting.met)
        if relaxed:
            fenced = order.fenced[1][rows].max(0) if order.fenced else ALWAYS
            known = np.minimum(known, fenced)
        else:
            meeting.told = union([meeting.told, order.told_by(lanes, single)])
        np.maximum(meeting.clock, known, out=meeting.clock)

    def _arrived_blindly(self, site: int, lane: int) -> None:
        """Report a thread that arrives again without having waited since its last arrival."""
        resident = self.resident
        if say := self.hazards.new("missing wait", site):
            say(
                f"{resident.describe(site)}: {resident.name_lane(lane)} arrives again at "
                "barrier.cluster and has not waited since its last arrival: the others may not have come yet, and each "
                "thread arrives once before all have. It needs barrier.cluster.wait in between."
            )

    def cluster_passed(self, numbers, cluster: int, turn: int) -> None:
        """Threads have waited for a round that is complete: they acquire what it published."""
        meeting, order, rows = self.meetings.get((cluster, turn)), self.order, np.unique(numbers >> 5)
        new = numbers[self.begun[numbers >> 5] == 0]
        if len(new):
            self.begun[new >> 5] = np.int64(self.hazards.next_event(-1)) << LANE_BITS | (new + self.detector.first_lane)
        if meeting is None:
            return
        self.detector.tensor.between.take(rows, meeting.met)
        own = order.known[rows, order.local[rows]]
        order.known[rows] = np.maximum(order.known[rows], meeting.clock)
        order.known[rows, order.local[rows]] = own
        order.take(numbers, meeting.told)
        self.inits[rows] = np.maximum(self.inits[rows], meeting.inits)
        order.synced[numbers] = np.maximum(order.synced[numbers], meeting.clock[order.local[numbers >> 5]])

    def knows_init(self, lanes, init: int) -> np.ndarray:
        """Which lanes may rely on an mbarrier's init (event and lane) through fence.mbarrier_init: (lanes,) Boolean."""
        column = ((init & LANE_MASK) >> 5) % self.order.span
        return self.inits[lanes >> 5, column] >= init >> LANE_BITS

    # ---- Shared memory of blocks that end ----

    def shared_elsewhere(self, site: int, numbers, blocks) -> None:
        """Note that threads use the shared memory of other blocks of their cluster."""
        if self.resident.program.sites[site].family != "mbarrier":  # its init is checked, which comes after the start
            self._check_begun(site, numbers, blocks)
        self.uses(site, numbers, blocks)

    def uses(self, site: int, numbers, blocks) -> None:
        event = self.hazards.next_event(site)
        columns = (numbers >> 5) % self.order.span
        self.used[blocks, columns] = event
        for block, column, lane in zip(blocks.tolist(), columns.tolist(), numbers.tolist(), strict=True):
            self.users[block, column] = site, lane

    def _check_begun(self, site: int, numbers, blocks) -> None:
        """Report threads that use the shared memory of a block and cannot know that it has started.

        They know if they have waited at barrier.cluster, or are ordered after a thread of their cluster that has, or
        after anything that the other block did.
        """
        order, own, first = self.order, self.order.own, self.detector.first_lane
        ask = self.resident.cluster_barrier.waited[numbers] == 0
        for lane, block in zip(numbers[ask].tolist(), blocks[ask].tolist(), strict=True):
            if (lane, block) in self.sure:
                continue
            cluster = lane // (32 * order.span)
            stamps = self.begun[cluster * order.span : (cluster + 1) * order.span]
            warps = np.arange(block * own, (block + 1) * own)
            any_event = np.int64(ALWAYS + 1) << LANE_BITS | (32 * warps + first)
            before = np.concatenate([stamps[stamps != 0], any_event])[None]
            bad = order.unordered(np.array([[lane + first]]), before, False)
            if bad is not None and bad.all():
                self._not_begun(site, lane, block)
                return
            self.sure.add((lane, block))

    def _not_begun(self, site: int, lane: int, block: int) -> None:
        resident = self.resident
        if say := self.hazards.new("missing wait", site):
            say(
                f"{resident.describe(site)}: {resident.name_lane(lane)} uses the shared memory of "
                f"{resident.name_block(block)}, which may not have started yet: let all blocks of the cluster meet at "
                "barrier.cluster (cluster.sync()) before the first of these accesses."
            )

    def threads_ended(self) -> None:
        """Report accesses to the shared memory of a block that do not happen before its last thread ends."""
        if self.resident.cluster_size == 1:
            return
        gone = (self.resident.pc.reshape(self.resident.blocks, -1) == DONE).all(1)
        for block in np.flatnonzero(gone & ~self.ended).tolist():
            self.ended[block] = True
            self.detector.tensor.left(block)
            for column in np.flatnonzero(self.used[block]).tolist():
                self._left(block, column)
            for load in self.detector.proxies.flying:
                if load.source is not None and int(load.source[0]) * 16 // self.resident.shared_stride == block:
                    self._leaves_copy(block, load)

    def _leaves_copy(self, block: int, load) -> None:
        if say := self.hazards.new("missing wait", load.site):
            say(
                f"{self.resident.describe(load.site)}: {self.resident.name_block(block)} ends while this copy may "
                "still be reading its shared memory; it has to stay until the other block has waited for the mbarrier "
                "of the copy."
            )

    def _left(self, block: int, column: int) -> None:
        resident, order = self.resident, self.order
        site, lane = self.users[block, column]
        first = self.detector.first_lane
        lanes = np.arange(32 * block * order.own, 32 * (block + 1) * order.own)[:, None] + first
        before = np.full(lanes.shape, int(self.used[block, column]) << LANE_BITS | lane + first)
        bad = order.unordered(lanes, before, False)
        if bad is None or not bad.all():
            return
        if say := self.hazards.new("missing wait", site):
            say(
                f"{resident.describe(site)}: {resident.name_lane(lane)} uses the shared memory of "
                f"{resident.name_block(block)}, and nothing keeps that block from ending before: let all blocks of the "
                "cluster meet at barrier.cluster before they end."
            )
