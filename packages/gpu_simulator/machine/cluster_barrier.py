"""barrier.cluster: all threads of all blocks of a cluster arrive, and may wait later.

"Each thread must arrive at the barrier only once before the barrier completes"; threads that have ended are not waited
for. PTX ISA, "barrier.cluster". In a launch without clusters, every block is a cluster of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gpu_simulator.faults import ClusterFault
from gpu_simulator.machine.branching import DONE, PARKED
from gpu_simulator.machine.thread_ranges import spans, threads_wait


class ClusterWait(NamedTuple):
    """Lanes of one cluster that wait together until all have arrived `turn` times."""

    lanes: np.ndarray
    turn: int
    following: int
    site: int


class ClusterBarrier:
    """barrier.cluster of the resident blocks.

    rounds: how often each lane has arrived; a wait needs all others of the cluster to have arrived as often.
    waited: the last round for which each lane has waited.
    """

    def __init__(self, resident):
        self.resident = resident
        self.rounds, self.waited = np.zeros(resident.lanes, np.int64), np.zeros(resident.lanes, np.int64)
        self.cluster_of_lane = resident.block_of_lane // resident.cluster_size
        self.lanes_of_cluster = resident.cluster_size * 32 * resident.warps_per_block
        self.parked: list[ClusterWait] = []

    def arrive(self, lanes, site: int, mask) -> None:
        resident, numbers = self.resident, lanes.lane_numbers()[lanes.active() if mask is None else mask]
        if not len(numbers):
            return
        over = self.complete()[self.cluster_of_lane[numbers]]
        if (self.rounds[numbers] > over).any():
            first = int(numbers[self.rounds[numbers] > over][0])
            raise ClusterFault(
                f"{resident.describe(site)}: {resident.name_lane(first)} arrives again at "
                "barrier.cluster before the others have arrived; each thread arrives once, then waits with "
                "barrier.cluster.wait."
            )
        self.rounds[numbers] += 1
        for observer in resident.observers:
            observer.cluster_arrived(site, numbers, self.rounds[numbers])
        self.recheck()

    def complete(self) -> np.ndarray:
        """(clusters,) the number of rounds for which all threads have arrived that have not ended."""
        rounds = np.where(self.resident.pc == DONE, np.iinfo(np.int64).max, self.rounds)
        return rounds.reshape(-1, self.lanes_of_cluster).min(1)

    def wait(self, lanes, site: int, following: int) -> int:
        resident = self.resident
        numbers = lanes.lane_numbers()[lanes.active()]
        resident.goto(lanes, PARKED)
        resident.at = None
        turns = np.maximum(self.rounds[numbers], self.waited[numbers] + 1)  # without an own arrival: for the next round
        self.waited[numbers] = turns
        for observer in resident.observers:
            observer.cluster_waits(site, numbers, turns)
        clusters = self.cluster_of_lane[numbers]
        for cluster, turn in np.unique(np.stack([clusters, turns]), axis=1).T.tolist():
            some = numbers[(clusters == cluster) & (turns == turn)]
            self.parked.append(ClusterWait(some, turn, following, site))
        self.recheck()
        return -1

    def recheck(self) -> None:
        """Resume the lanes that wait for a round for which all have arrived."""
        if not self.parked:
            return
        left, resident, complete = [], self.resident, self.complete()
        for entry in self.parked:
            cluster = int(self.cluster_of_lane[entry.lanes[0]])
            if complete[cluster] < entry.turn:
                left.append(entry)
                continue
            resident.pc[entry.lanes] = entry.following
            for observer in resident.observers:
                observer.cluster_passed(entry.lanes, cluster, entry.turn)
        self.parked = left

    def explain(self, block: int) -> list[str]:
        """One clause for each group of waiting lanes of a block, with the threads that have not arrived."""
        resident, words = self.resident, []
        for entry in self.parked:
            inside = entry.lanes[resident.block_of_lane[entry.lanes] == block]
            if len(inside):
                words.append(
                    f"{threads_wait(resident.thread_of_lane[inside])} at barrier.cluster for all threads "
                    f"({resident.describe(entry.site)}){self.missing(entry, block)}"
                )
        return words

    def missing(self, entry: ClusterWait, block: int) -> str:
        """The threads that have not arrived, block by block, in words."""
        resident, parts = self.resident, []
        same = self.cluster_of_lane == self.cluster_of_lane[entry.lanes[0]]
        late = np.flatnonzero(same & (self.rounds < entry.turn) & (resident.pc != DONE))
        for other in np.unique(resident.block_of_lane[late]).tolist():
            threads = spans(resident.thread_of_lane[late[resident.block_of_lane[late] == other]])
            parts.append(f"threads {threads} of {'this block' if other == block else resident.name_block(other)}")
        return f"; {', '.join(parts)} {'has' if len(late) == 1 else 'have'} not arrived" if parts else ""

    def blocks(self) -> set[int]:
        """The resident blocks in which lanes wait."""
        return {int(block) for entry in self.parked for block in np.unique(self.resident.block_of_lane[entry.lanes])}
