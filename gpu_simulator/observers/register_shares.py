"""Finds warps of one warpgroup that do not execute the same setmaxnreg.

"The setmaxnreg instruction must be executed by all warps in a warpgroup"; otherwise its behaviour is undefined. PTX
ISA, "setmaxnreg".
"""

from __future__ import annotations

from itertools import zip_longest

import numpy as np

WARPS = 4  # of a warpgroup


class RegisterShares:
    """Part of the `RaceDetector`. executed: by resident warp, the sites of its setmaxnreg in their order."""

    def __init__(self, detector):
        self.resident, self.hazards = detector.resident, detector.hazards
        self.executed: dict[int, list[int]] = {}

    def registers_shared(self, lanes, site: int) -> None:
        for warp in np.unique(lanes.lane_numbers()[lanes.active()] >> 5).tolist():
            self.executed.setdefault(warp, []).append(site)

    def compare(self) -> None:
        """Compare the warps of each warpgroup; called when all threads have ended."""
        own = self.resident.warps_per_block
        for warp, sites in self.executed.items():
            first = warp - warp % own % WARPS
            for other in range(first, min(first + WARPS, (warp // own + 1) * own)):
                self._compare(warp, sites, other, self.executed.get(other, []))

    def _compare(self, warp: int, sites: list[int], other: int, others: list[int]) -> None:
        for number, (site, instead) in enumerate(zip_longest(sites, others), 1):
            if site is None or self._what(site) == self._what(instead):
                continue
            does = "executes no such instruction" if instead is None else f"executes {self._what(instead)}"
            self.hazards.add(
                "divergent barrier",
                site,
                -1,
                lambda site=site, number=number, does=does: (
                    f"{self.resident.describe(site)}: {self._name(warp)} executes {self._what(site)} as number "
                    f"{number} of its setmaxnreg, where warp {other % self.resident.warps_per_block} of the same "
                    f"warpgroup {does}. All four warps of a warpgroup have to execute the same ones, because registers "
                    "are given and taken by warpgroup; otherwise what happens is undefined."
                ),
            )
            return

    def _what(self, site: int | None) -> str:
        if site is None:
            return ""
        item = self.resident.program.sites[site]
        return f"setmaxnreg.{item.parts[1]} to {int(item.operands[0].text, 0)} registers"

    def _name(self, warp: int) -> str:
        block, local = divmod(warp, self.resident.warps_per_block)
        return f"warp {local} of {self.resident.name_block(block)}"
