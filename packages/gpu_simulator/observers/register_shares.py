"""Finds warps of one warpgroup that do not execute the same setmaxnreg, and warps that wait for registers for ever.

"The setmaxnreg instruction must be executed by all warps in a warpgroup"; otherwise its behaviour is undefined. And
setmaxnreg.inc "blocks execution until enough registers are available in the per-CTA-register-pool". PTX ISA,
"setmaxnreg". The simulator does not block there; the order of events tells which registers can be there in time.
"""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

WARPS = 4  # of a warpgroup
LANES = 32
REGISTERS = 65_536  # of a multiprocessor, 32 bits each; CUDA C++ Programming Guide, "Technical Specifications"
STEP = 8  # registers of a thread are allocated in steps of 8


class Share(NamedTuple):
    """One setmaxnreg of one warp.

    change: registers that each of its lanes receives (positive) or gives back (negative).   event: its number.
    known: for each warp of the cluster, the last event on which this warp could rely then.
    """

    site: int
    change: int
    event: int
    known: np.ndarray


class RegisterShares:
    """Part of the `RaceDetector`. shares: by resident warp, its setmaxnreg in their order, and what they changed.

    At the launch a thread is taken to hold the most registers that it can have if one block fills the multiprocessor,
    so a wait may be missed and none is invented.
    """

    def __init__(self, detector):
        self.resident, self.hazards, self.order = detector.resident, detector.hazards, detector.order
        self.shares: dict[int, list[Share]] = {}
        threads = self.resident.warps_per_block * LANES
        self.at_launch = min(256, REGISTERS // threads // STEP * STEP)

    def registers_shared(self, lanes, site: int) -> None:
        event = self.hazards.next_event(site)
        count = self._count(site)
        for warp in np.unique(lanes.lane_numbers()[lanes.active()] >> 5).tolist():
            earlier = self.shares.setdefault(warp, [])
            held = self._count(earlier[-1].site) if earlier else self.at_launch
            earlier.append(Share(site, count - held, event, self.order.known_to_warp(warp)))

    def compare(self) -> None:
        """Compare the warps of each warpgroup, and look for waits without end; called when all threads have ended."""
        self._compare_warpgroups()
        own = self.resident.warps_per_block
        for block in sorted({warp // own for warp in self.shares}):
            shares = [
                (warp, share) for warp in range(block * own, block * own + own) for share in self.shares.get(warp, [])
            ]
            self._grant(shares)

    def _grant(self, shares: list[tuple[int, Share]]) -> None:
        """Grant the requests of a block as registers come back, in the worst order, and report if some never are.

        The worst order is to grant those requests last that somebody waits for who has registers to give back.
        """
        wanted = [item for item in shares if item[1].change > 0]
        given = [item for item in shares if item[1].change < 0]
        free = 0
        while wanted:
            early = [item for item in given if not any(self._after(item, request) for request in wanted)]
            given = [item for item in given if item not in early]
            free -= LANES * sum(share.change for _, share in early)
            possible = [item for item in wanted if LANES * item[1].change <= free]
            possible.sort(key=lambda request: any(self._after(item, request) for item in given))
            if possible:
                free -= LANES * possible[0][1].change
                wanted.remove(possible[0])
            elif not early:
                self._stuck(wanted, free, given[0]) if given else self._never(wanted, shares)
                return

    def _after(self, given: tuple[int, Share], request: tuple[int, Share]) -> bool:
        """Whether a warp gives registers back only after another one has got those that it requests."""
        (warp, share), (asks, wants) = given, request
        return share.event > wants.event and (warp == asks or share.known[asks % self.order.span] >= wants.event)

    def _stuck(self, wanted: list[tuple[int, Share]], free: int, late: tuple[int, Share]) -> None:
        (warp, share), need = wanted[0], LANES * sum(share.change for _, share in wanted)
        if say := self.hazards.new("missing wait", share.site, late[1].site):
            say(
                f"{self.resident.describe(share.site)}: {self._name(warp)} and {len(wanted) - 1} other warps wait here "
                f"for {need:,} registers, of which {free:,} are free. Others are given back at "
                f"{self.resident.describe(late[1].site)}, but only after something that happens behind this wait. On a "
                "GPU both wait for ever."
            )

    def _never(self, wanted: list[tuple[int, Share]], shares: list[tuple[int, Share]]) -> None:
        """Report requests for more registers than the block has, whoever gives some back."""
        (warp, share), own = wanted[0], self.resident.warps_per_block
        held = dict.fromkeys(range(warp // own * own, (warp // own + 1) * own), self.at_launch)
        held.update((one, self._count(last.site)) for one, last in shares)
        counts = sorted(Counter(held.values()).items(), reverse=True)
        terms = " + ".join(f"{LANES * warps} threads × {count}" for count, warps in counts)
        need, have = (LANES * sum(numbers) for numbers in (held.values(), [self.at_launch] * own))
        if say := self.hazards.new("missing wait", share.site):
            say(
                f"{self.resident.describe(share.site)}: {self._name(warp)} asks for {self._count(share.site)} "
                f"registers a thread, which it can never get: {terms} = {need:,}, and this block has at most "
                f"{LANES * own} threads × {self.at_launch} = {have:,}. On a GPU it waits for ever: "
                "ask for fewer, or let other warps give back more (setmaxnreg.dec)."
            )

    def _count(self, site: int) -> int:
        return int(self.resident.program.sites[site].operands[0].text, 0)

    def _compare_warpgroups(self) -> None:
        own = self.resident.warps_per_block
        executed = {warp: [share.site for share in shares] for warp, shares in self.shares.items()}
        for warp, sites in executed.items():
            first = warp - warp % own % WARPS
            for other in range(first, min(first + WARPS, (warp // own + 1) * own)):
                self._compare(warp, sites, other, executed.get(other, []))

    def _compare(self, warp: int, sites: list[int], other: int, others: list[int]) -> None:
        for number, (site, instead) in enumerate(zip_longest(sites, others), 1):
            if site is None or self._what(site) == self._what(instead):
                continue
            does = "executes no such instruction" if instead is None else f"executes {self._what(instead)}"
            if say := self.hazards.new("divergent barrier", site):
                say(
                    f"{self.resident.describe(site)}: {self._name(warp)} executes {self._what(site)} as number "
                    f"{number} of its setmaxnreg, where warp {other % self.resident.warps_per_block} of the same "
                    f"warpgroup {does}. All four warps of a warpgroup have to execute the same ones, because registers "
                    "are given and taken by warpgroup; otherwise what happens is undefined."
                )
            return

    def _what(self, site: int | None) -> str:
        if site is None:
            return ""
        return f"setmaxnreg.{self.resident.program.sites[site].parts[1]} to {self._count(site)} registers"

    def _name(self, warp: int) -> str:
        block, local = divmod(warp, self.resident.warps_per_block)
        return f"warp {local} of {self.resident.name_block(block)}"
