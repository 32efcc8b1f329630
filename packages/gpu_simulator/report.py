"""`Report`, the result of a launch: counts per instruction and per source line, hazards, printed text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, TypeAlias

from gpu_simulator.faults import HazardFound, SimulatedFault
from gpu_simulator.hardware.banks import conflict_degree
from gpu_simulator.machine.counting import SiteCounts
from gpu_simulator.observers.hazards import Hazard
from gpu_simulator.observers.inspection import Snapshot, WarpAccess, replay
from gpu_simulator.ptx.ir import Instruction


@dataclass(frozen=True)
class Totals:
    """The counts of an instruction over all warps, or their sums over some. Counts that do not apply are zero.

    executions: by warps.   wavefronts, ideal_wavefronts: of shared memory, ideal without bank conflicts.
    sectors: of 32 bytes in global memory.   requests: executions that access memory.   bytes: that its lanes access.
    """

    executions: int = 0
    wavefronts: int = 0
    ideal_wavefronts: int = 0
    sectors: int = 0
    requests: int = 0
    bytes: int = 0

    @property
    def conflict_degree(self) -> float | None:
        """Wavefronts divided by ideal wavefronts; None without shared accesses."""
        return conflict_degree(self.wavefronts, self.ideal_wavefronts)


@dataclass(frozen=True, kw_only=True)
class Site(Totals):
    """One PTX instruction and its counts.

    file, line: of the instruction itself.   inlined_at: the call sites, ((file, line), …), outermost last.
    """

    opcode: str
    ptx_line: int
    file: str | None
    line: int
    inlined_at: tuple[tuple[str, int], ...]

    @property
    def outermost(self) -> tuple[str | None, int]:
        """(file, line) of the outermost call site, or of the instruction itself if it was not inlined."""
        return self.frames[-1]

    @property
    def frames(self) -> tuple[tuple[str | None, int], ...]:
        """(file, line) of the instruction itself and of each call into which it was inlined, outermost last."""
        return ((self.file, self.line), *self.inlined_at)


Where: TypeAlias = "int | tuple[str, int] | Site"  # a source line, (file, line), or a site
_COUNTS = attrgetter(*(field.name for field in fields(Totals)))


class Report:
    """The result of `launch`.

    instructions: warp instructions executed.   steps: of the simulator, as `effort` counts them.
    sites: one `Site` for each PTX instruction.   totals: their sums.
    hazards: the findings; empty without the observer "hazards".   output: the text of printf.
    remarks: without that observer, what is found all the same: sentences about uses of registers that nothing has
    written, and about variables of the module that nothing fills.
    most_on_the_way: with timing "late", the most bytes that were in flight at once in copies that report to mbarriers,
    over the blocks that ran together; each copy takes as long as it legally can.
    asked_by_rank: rank of a block in its cluster -> bytes that its bulk copies requested; a multicast counts once.
    """

    instructions: int
    steps: float
    sites: list[Site]
    hazards: list[Hazard]
    output: str
    remarks: list[str]
    totals: Totals
    asked_by_rank: dict[int, int]
    most_on_the_way: int

    def __init__(self, launch: Any) -> None:
        self._launch = launch
        program = launch.program
        executed = [0] * len(program.sites)
        for block, runs in zip(program.blocks, launch.runs, strict=True):
            for item in block.code:
                executed[item.site] = runs
            if block.terminator is not None:
                executed[block.terminator.site] = runs
        self.instructions = sum(executed)
        self.steps = launch.effort.steps
        self.most_on_the_way = launch.most_on_the_way
        self.asked_by_rank = dict(launch.asked_by_rank)
        self.sites = [
            _site(item, runs, counts) for item, runs, counts in zip(program.sites, executed, launch.sites, strict=True)
        ]
        self.hazards = launch.hazards.found if launch.hazards else []
        self.remarks = [] if launch.hazards else launch.remarks
        self.output = "".join(launch.output)
        if launch.unprinted:
            self.output += f"\n… {launch.unprinted:,} more calls of printf are not shown"
        self.totals = sum_of(self.sites)

    def __getstate__(self) -> dict:
        """Everything but the launch, which can be large and only `inspect` and `trace` need."""
        return {**vars(self), "_launch": None}

    def raise_hazards(self) -> None:
        """Raise `HazardFound` if there are hazards."""
        if self.hazards:
            raise HazardFound("; ".join(str(h) for h in self.hazards))

    def lines(self, file: str) -> dict[int, Totals]:
        """Line of a source file -> its totals. Unrolled copies are summed; inlined code counts for the calling line."""
        return {line: sum_of(sites) for (_, line), sites in sorted(self.sites_by_line(file).items())}

    def sites_by_line(self, *files: str) -> dict[tuple[str, int], list[Site]]:
        """(file, line) -> its sites, for some source files.

        Inlined code belongs to the line that called it: the outermost of its call sites that is in one of `files`.
        """
        groups: dict[tuple[str, int], list[Site]] = {}
        for site in self.sites:
            found = (
                (file, line)
                for name, line in reversed(site.frames)
                for file in files
                if name and _same_file(name, file)
            )
            if place := next(found, None):
                groups.setdefault(place, []).append(site)
        return groups

    def inspect(self, where: Where, block: int | tuple[int, ...] = 0, warp: int = 0) -> Snapshot:
        """Registers and shared memory after the last execution of a line by one warp, as a `Snapshot`.

        where: a source line or a `Site`.   block: number, or coordinates.   The block is run again.
        Raises `SimulatedFault` if the line has no instruction or the warp did not execute it.
        """
        probe = replay(self, where, block, warp)
        if probe.last is None:
            raise SimulatedFault(f"Warp {warp} of block {block} executed no instruction at {where}.")
        return probe.snapshot()

    def trace(self, where: Where, block: int | tuple[int, ...] = 0, warp: int = 0) -> list[WarpAccess]:
        """The addresses of every execution of a line's memory instructions by one warp, as `WarpAccess` items."""
        return replay(self, where, block, warp).accesses

    def __repr__(self) -> str:
        t = self.totals
        return (
            f"Report({self.instructions:,} warp instructions, {t.wavefronts:,} shared wavefronts "
            f"({t.ideal_wavefronts:,} ideal), "
            f"{t.sectors:,} sectors, {len(self.hazards)} hazard{'s' * (len(self.hazards) != 1)})"
        )


def _same_file(name: str, file: str) -> bool:
    return name == file or name.endswith("/" + file) or file.endswith("/" + name)


def _site(item: Instruction, runs: int, counts: SiteCounts) -> Site:
    location = item.location
    if {"param", "const"} & set(item.parts):  # served by the constant cache, not by global memory
        counts = SiteCounts()
    return Site(
        runs,
        counts.wavefronts,
        counts.ideal,
        counts.sectors,
        counts.requests,
        counts.bytes,
        opcode=item.opcode,
        ptx_line=item.line,
        file=location.file if location else None,
        line=location.line if location else 0,
        inlined_at=location.inlined_at if location else (),
    )


def sum_of(sites: Iterable[Site]) -> Totals:
    """The totals of some sites."""
    return Totals(*map(sum, zip(*map(_COUNTS, sites), strict=True)))
