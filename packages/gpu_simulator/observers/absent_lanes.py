"""Finds instructions of a warp in which lanes are missing: shuffles from them, and instructions for whole warps."""

from __future__ import annotations

import numpy as np

from gpu_simulator.machine.barriers import Arrival
from gpu_simulator.machine.branching import DONE, PARKED
from gpu_simulator.machine.thread_ranges import spans


class AbsentLanes:
    """Part of the `RaceDetector`."""

    def __init__(self, detector):
        self.hazards, self.resident = detector.hazards, detector.resident
        self.left_out: dict[Arrival, np.ndarray] = {}
        blocks = self.resident.program.blocks
        self.ends = np.array([not block.code and block.end == "exit" for block in blocks])

    def absent_lane_read(self, lanes, site: int, readers, sources) -> None:
        """Report a shuffle from a lane that does not take part in it: PTX ISA, "shfl.sync", leaves the value open."""
        resident, at = self.resident, int(np.argmax(readers))
        reader, source = int(lanes.lane_numbers()[at]), int(sources[at])
        ended = resident.pc[reader // 32 * 32 + source] == DONE
        why = "has ended" if ended else "does not execute this shuffle with it"
        if say := self.hazards.new("absent lane", site):
            say(
                f"{resident.describe(site)}: {resident.name_lane(reader)} takes a value from lane {source} of its "
                f"warp, which {why}: the value is undefined. A lane may only take values from lanes that execute the "
                "shuffle and that its mask names."
            )

    def arrived(self, arrival: Arrival) -> None:
        """Note the lanes of arriving warps that do not arrive with them, and neither have ended nor will at once.

        Lanes that have ended count as arrived.
        """
        pc, warps = self.resident.pc, np.unique(arrival.lanes >> 5)
        item = self.resident.program.sites[arrival.site]
        if len(arrival.lanes) == 32 * len(warps) or (item.family == "barrier" and "aligned" not in item.parts):
            return
        others = np.setdiff1d((32 * warps[:, None] + np.arange(32)).reshape(-1), arrival.lanes)
        at = pc[others]
        at = np.where(at >= len(self.ends), 0, at)
        self.left_out[arrival] = others[(pc[others] != DONE) & ~self.ends[at] | (pc[others] == PARKED)]

    def met(self, arrivals: list[Arrival]) -> None:
        """Report a barrier that is complete without lanes whose warp has come. PTX ISA, "bar": for whole warps."""
        if not self.left_out:
            return
        came = np.concatenate([arrival.lanes for arrival in arrivals])
        for arrival in arrivals:
            missing = np.setdiff1d(self.left_out.pop(arrival, came), came)
            if len(missing):
                self._left_out(arrival, missing[missing >> 5 == missing[0] >> 5])

    def _left_out(self, arrival: Arrival, lanes: np.ndarray) -> None:
        resident = self.resident
        warp = int(lanes[0]) // 32 % resident.warps_per_block
        if say := self.hazards.new("absent lane", arrival.site):
            say(
                f"{resident.describe(arrival.site)}: lanes {spans(lanes & 31)} of warp {warp} do not come to this "
                f"barrier, in {resident.name_block(arrival.block)}, and have not ended when their warp arrives. All "
                "lanes of a warp have to execute __syncthreads() together; what happens otherwise is undefined."
            )

    def partial_warps(self, lanes, site: int, rows, partial) -> None:
        """Report an .aligned instruction that only some lanes of a warp execute. Lanes that have ended are missing too.

        PTX ISA, "ldmatrix", "mma" and others: the behaviour is undefined if not all threads of the warp execute it, or
        if one of them has ended.
        """
        resident, at = self.resident, int(np.argmax(partial))
        missing = np.flatnonzero(~rows[at])
        lane = int(lanes.lane_numbers()[32 * at])
        warp = lane // 32 % resident.warps_per_block
        ended = (resident.pc[lane + missing] == DONE).all()
        verb = "have ended" if ended else "do not execute it"
        if say := self.hazards.new("absent lane", site):
            say(
                f"{resident.describe(site)}: lanes {spans(missing)} of warp {warp} {verb}, in "
                f"{resident.name_block(int(resident.block_of_lane[lane]))}. All 32 lanes of a warp have to execute "
                "this instruction together; what happens otherwise is undefined."
            )
