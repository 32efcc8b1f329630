"""barrier.cluster where every block is a cluster of its own: all threads arrive, and wait when they please."""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.barriers import Waiting, spans


class ClusterBarrier:
    """rounds: how often each lane has arrived; one that waits needs all others of its block to have come as often."""

    def __init__(self, chunk):
        self.chunk = chunk
        self.rounds = np.zeros(chunk.lanes, np.int64)
        self.arrivals: dict[tuple[int, int], list[Waiting]] = {}  # by block and round, where hazards are looked for
        self.parked: list[Waiting] = []

    def arrive(self, L, site: int, mask) -> None:
        chunk, lanes = self.chunk, L.lane_numbers()[L.active() if mask is None else mask]
        self.rounds[lanes] += 1
        if chunk.hazards is not None and "relaxed" not in chunk.program.sites[site].parts:
            places = np.stack([chunk.block_of_lane[lanes], self.rounds[lanes]])
            for block, turn in np.unique(places, axis=1).T.tolist():
                some = lanes[(places[0] == block) & (places[1] == turn)]
                entry = Waiting(some, 0, None, site, None, chunk.hazards.report.event)
                self.arrivals.setdefault((block, turn), []).append(entry)
        self.recheck()

    def wait(self, L, site: int, following: int) -> int:
        from gemm_lab.emulator.chunk import PARKED

        chunk = self.chunk
        lanes = L.lane_numbers()[L.active()]
        chunk.goto(L, PARKED)
        chunk.at = None
        for block in np.unique(chunk.block_of_lane[lanes]).tolist():
            some = lanes[chunk.block_of_lane[lanes] == block]
            self.parked.append(Waiting(some, None, following, site, None, 0))
        self.recheck()
        return -1

    def recheck(self) -> None:
        """Let those go on for whom all have arrived; threads that have ended count as arrived."""
        from gemm_lab.emulator.chunk import DONE

        left, chunk = [], self.chunk
        for entry in self.parked:
            block, turn = int(chunk.block_of_lane[entry.lanes[0]]), int(self.rounds[entry.lanes].max())
            own = slice(block * 32 * chunk.warps_per_block, (block + 1) * 32 * chunk.warps_per_block)
            if (self.rounds[own][chunk.pc[own] != DONE] < turn).any():
                left.append(entry)
                continue
            chunk.pc[entry.lanes] = entry.following
            if chunk.hazards is not None and (block, turn) in self.arrivals:
                chunk.hazards.met([*self.arrivals[block, turn], entry], True)
        self.parked = left

    def explain(self, block: int) -> list[str]:
        """One clause for each group of lanes of a block that waits."""
        chunk = self.chunk
        return [
            f"threads {spans(np.sort(chunk.thread_of_lane[entry.lanes]))} wait at barrier.cluster for all threads "
            f"({chunk.launch.describe(chunk.program.sites[entry.site])})"
            for entry in self.parked
            if chunk.block_of_lane[entry.lanes[0]] == block
        ]

    def blocks(self) -> set[int]:
        """Those in which somebody waits."""
        return {int(self.chunk.block_of_lane[entry.lanes[0]]) for entry in self.parked}
