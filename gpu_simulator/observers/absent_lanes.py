"""Finds instructions of a warp in which lanes are missing: shuffles from them, and instructions for whole warps."""

from __future__ import annotations

import numpy as np

from gpu_simulator.machine.branching import DONE
from gpu_simulator.machine.thread_ranges import spans


class AbsentLanes:
    """Part of the `RaceDetector`."""

    def __init__(self, detector):
        self.hazards, self.resident = detector.hazards, detector.resident

    def absent_lane_read(self, lanes, site: int, readers, sources) -> None:
        """Report a shuffle from a lane that does not take part in it: PTX ISA, "shfl.sync", leaves the value open."""
        resident, at = self.resident, int(np.argmax(readers))
        reader, source = int(lanes.lane_numbers()[at]), int(sources[at])
        ended = resident.pc[reader // 32 * 32 + source] == DONE
        why = "has ended" if ended else "does not execute this shuffle with it"
        self.hazards.add(
            "absent lane",
            site,
            -1,
            lambda: (
                f"{resident.describe(site)}: {resident.name_lane(reader)} takes a value from lane {source} of its "
                f"warp, which {why}: the value is undefined. A lane may only take values from lanes that execute the "
                "shuffle and that its mask names."
            ),
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
        self.hazards.add(
            "absent lane",
            site,
            -1,
            lambda: (
                f"{resident.describe(site)}: lanes {spans(missing)} of warp {warp} {verb}, in "
                f"{resident.name_block(int(resident.block_of_lane[lane]))}. All 32 lanes of a warp have to execute "
                "this instruction together; what happens otherwise is undefined."
            ),
        )
