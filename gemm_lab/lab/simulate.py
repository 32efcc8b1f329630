"""`lab.simulate(source, …)`: any CUDA kernel without a GPU, line by line, and layouts that would cost less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gemm_lab.cards.error_card import error_page
from gemm_lab.cards.layout_table import LayoutTable, layout_table
from gemm_lab.cards.simulated_lines import SimulatedLine, simulated_lines
from gemm_lab.cards.simulation_card import SimulationCard
from gemm_lab.lab.on_simulator import still_at_work
from gemm_lab.lab.ptx_report import PtxReport
from gemm_lab.lab.simulated_reasons import reasons
from gemm_results.errors import LabError
from gpu_simulator import widest_first
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.errors import ConfigError, SimulatorError
from gpu_simulator.kernel_file import KernelFile
from gpu_simulator.launching import Extent
from gpu_simulator.layouts.studied_launch import StudiedLaunch, studied_launch
from gpu_simulator.layouts.trials import ArrayStudy
from gpu_simulator.machine.argument_structs import arrays_in
from gpu_simulator.ptx.demangle import source_name
from gpu_simulator.report import Report
from gpu_simulator.simulating import compiled_kernel

SECONDS = 60.0
SHOWN_VALUES = 6


@dataclass(frozen=True)
class Simulation:
    """What `lab.simulate` shows: a launch of your own kernel, or the error that stopped it.

    error: None if the kernel ran to its end. If there is one, every other attribute raises it.
    """

    error: SimulatorError | None = None
    _report: Report | None = field(default=None, repr=False)
    _arrays: tuple[np.ndarray, ...] = field(default=(), repr=False)
    _studies: tuple[ArrayStudy, ...] = field(default=(), repr=False)
    _card: SimulationCard | None = field(default=None, repr=False)
    _program: Any = field(default=None, repr=False)

    def _made(self) -> tuple[Report, SimulationCard]:
        if self._report is None or self._card is None:
            raise self.error or LabError("The kernel did not run.")
        return self._report, self._card

    @property
    def report(self) -> Report:
        """The simulator's `Report`, with the counts of every instruction, `inspect` and `trace`."""
        return self._made()[0]

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of `args`, in their order, after the launch."""
        self._made()
        return self._arrays

    @property
    def hazards(self) -> list:
        """Races, missing waits and reads of what nobody wrote, the widest first."""
        return widest_first(self.report.hazards)

    @property
    def lines(self) -> tuple[SimulatedLine, ...]:
        """The source lines that access memory, with what they cost and what they would cost at least."""
        return tuple(self._made()[1].lines)

    @property
    def worst(self) -> tuple[SimulatedLine, ...]:
        """The line with the most excess wavefronts and that with the most excess sectors, as far as there is excess."""
        return tuple(self._made()[1].worst)

    @property
    def layouts(self) -> tuple[ArrayStudy, ...]:
        """For each shared array what it costs, and the layouts that would cost less; the worst array first."""
        self._made()
        return self._studies

    @property
    def output(self) -> str:
        """What the kernel printed."""
        return self.report.output

    @property
    def card(self) -> SimulationCard:
        """What is shown, in parts."""
        return self._made()[1]

    @property
    def compiled(self) -> Any:
        """The `Compiled` that was launched; of a .ptx file its text."""
        self._made()
        return self._program

    def __repr__(self) -> str:
        return self._card.text() if self._card else f"✗ {type(self.error).__name__}: {self.error}"

    def _repr_html_(self) -> str:
        return self._card.html() if self._card else error_page(self.error or LabError("The kernel did not run."))


def simulate(
    source: str | Path,
    kernel: str | None = None,
    grid: Extent = 1,
    block: Extent = 1,
    args: Sequence[Any] = (),
    *,
    dynamic_smem_bytes: int = 0,
    cluster: Extent = 1,
    arch: str = "sm_80",
    hazards: bool = True,
    timing: str = "early",
    rows: Mapping[str, int] | None = None,
    include: Sequence[str | Path] = (),
    defines: Mapping[str, Any] | None = None,
    std: str | None = None,
    symbols: Mapping[str, Any] | None = None,
    uninit: Sequence[int | str] = (),
    max_seconds: float | None = SECONDS,
    exact: bool | None = None,
) -> Simulation:
    """Run any CUDA kernel of yours without a GPU, and show what each line costs and which layouts would cost less.

    source: CUDA text, or the path of a .cu file, with host code or not.   kernel: its name, if there are several.
    grid, block, cluster: an int, or up to three.   args: in the order of the parameters; NumPy arrays are changed in
    place, numbers get the parameter's type.   dynamic_smem_bytes: size of the `extern __shared__` memory.
    arch: what is compiled for, such as "sm_90a".   hazards: look for races and missing waits.   timing: "early", or
    "late" for asynchronous copies that land as late as they may.   rows: shared array -> elements of its row, for
    arrays that are not declared with two extents.   include: folders with headers.   defines: macros.
    std: the C++ standard, such as "c++20"; by default C++17, or C++20 for a source that needs it.
    symbols: contents of `__constant__` and `__device__` variables by name; arrays are updated in place.
    uninit: numbers of arguments whose arrays begin uninitialised, with NaN in every format; "0.1" for a member.
    max_seconds: of processor time; None for no limit.   exact: whether tensor cores sum as those of `arch` do, to the
    bit, and not in float32; by default only products of FP8.

    What is wrong with the kernel or the call is shown as a sentence; `Simulation.error` has it, and nothing is raised.
    """
    try:
        include = [include] if isinstance(include, (str, Path)) else include
        _require(include, (list, tuple), "include is a list of folders")
        _require(defines, (Mapping, type(None)), "defines is a dict of macros and their values")
        _require(std, (str, type(None)), "std is a C++ standard such as 'c++20'")
        _require(args, (list, tuple), "args is a list with one item for each parameter")
        _require(rows, (Mapping, type(None)), "rows is a dict from shared arrays to elements of their rows")
        _require(symbols, (Mapping, type(None)), "symbols is a dict from names of variables to their contents")
        wanted = 'uninit is a list of numbers of arguments, from 0, or of members such as "0.1"'
        _require(uninit, (list, tuple), wanted)
        if any(as_whole(one) is None and not isinstance(one, str) for one in uninit):
            raise ConfigError(f"{wanted}, not {shown(uninit)}.")
        if not isinstance(kernel, (str, type(None))):
            named = "Write grid=…, block=… and args=… with their names."
            raise ConfigError(f"The kernel is named by a text, not {shown(kernel)}. {named}")
        launching = _plain(arch, dynamic_smem_bytes, hazards, timing, max_seconds, exact)
        compiling = {"arch": launching.pop("arch"), "include": include, "defines": defines, "std": std}
        launching["observers"] = ("hazards",) if launching.pop("hazards") else ()
        launching |= {"symbols": symbols, "uninit": uninit, "grid": grid, "block": block, "cluster": cluster}
        return simulated(compiled_kernel(source, kernel, **compiling), args, defines, rows, **launching)
    except SimulatorError as error:
        return Simulation(error)


@checked
def _plain(
    arch: str, dynamic_smem_bytes: int, hazards: bool, timing: str, max_seconds: float | None, exact: bool | None
) -> dict[str, Any]:
    """The options of plain types, which `checked` has checked, by name."""
    return locals()


def _require(value: Any, kinds: tuple[type, ...], says: str) -> None:
    """Raise `ConfigError` for a value of none of these types."""
    if not isinstance(value, kinds):
        raise ConfigError(f"{says}, not {shown(value)}.")


def simulated(
    found: KernelFile,
    args: Sequence[Any],
    defines: Mapping[str, Any] | None,
    rows: Mapping[str, int] | None,
    **launching: Any,
) -> Simulation:
    """`simulate` of a kernel that is compiled, `found`; raises what stops it.

    launching: keyword arguments of `gpu_simulator.launch`, of which grid, block, observers and uninit are needed.
    """
    given = [*arrays_in(args).values()]
    for name, array in arrays_in(args).items():
        if name in map(str, launching["uninit"]) and array.flags.writeable and array.flags.c_contiguous:
            array.reshape(-1).view(np.uint8)[:] = 0xFF  # as the launch does, so that what it writes counts as changed
    before = [array.copy() for array in given]
    with still_at_work(source_name(found.entry)):
        made = studied_launch(found, args=args, defines=defines, rows=rows, **launching)
    card = _card(found, made, launching, _array_rows(args, before))
    return Simulation(None, made.report, tuple(given), tuple(made.studies), card, found.program)


class Costs(NamedTuple):
    """What a launch costs. lines: that access memory.   worst, sentences: as `reasons`.   layouts: of shared arrays."""

    lines: tuple[SimulatedLine, ...]
    worst: list[SimulatedLine]
    sentences: list[str]
    layouts: list[LayoutTable]


def costs(made: StudiedLaunch, report: Any, listing: Sequence[tuple[str, int, str]]) -> Costs:
    """What each line of `listing`, (file, number, text), costs in a launch. report: that of the launch, by line."""
    accesses = list(made.recorded.global_())
    needed, full = Counter[int](), {access.site for access in accesses if access.full}
    for access in accesses:
        needed[access.site] += int((access.least() * access.counts).sum())
    least = {site: min(count, report.sites[site].sectors) for site, count in needed.items() if site not in full}
    lines = simulated_lines(report, listing, least)
    numbers = {id(site): number for number, site in enumerate(report.sites)}
    places = report.sites_by_line(*dict.fromkeys(file for file, _, _ in listing))
    place_of = {numbers[id(site)]: place for place, sites in places.items() for site in sites}
    worst, sentences = reasons(report, lines, place_of, list(made.recorded.shared()), accesses)
    line_of = {site: line for site, (_, line) in place_of.items()}
    return Costs(lines, worst, sentences, [layout_table(report, study, line_of) for study in made.studies])


def _card(
    found: KernelFile, made: StudiedLaunch, launching: Mapping[str, Any], arrays: list[tuple[str, str, str, str]]
) -> SimulationCard:
    report: Any = PtxReport(made.report) if found.file.endswith(".ptx") else made.report
    listing = [(found.file, number, text) for number, text in enumerate(found.text.split("\n"), 1)]
    lines, worst, sentences, layouts = costs(made, report, listing)
    totals, hazards = report.totals, widest_first(report.hazards)
    facts = [
        ("grid", _in_words(launching["grid"])),
        ("block", _in_words(launching["block"])),
        ("shared memory", f"{made.smem_bytes:,} B a block"),
        ("warp instructions", f"{report.instructions:,}"),
        ("wavefronts", f"{totals.wavefronts:,}, least {totals.ideal_wavefronts:,}"),
        ("sectors", f"{totals.sectors:,}, least {sum(line.least_sectors for line in lines):,}"),
    ]
    facts += [("remark", said) for said in report.remarks]
    looked = "no race and no missing wait was found" if launching["observers"] else "hazards were not looked for"
    count = f"{len(hazards)} hazard{'s' * (len(hazards) > 1)}"
    return SimulationCard(
        kernel=source_name(found.entry),
        verdict=f"ran on the simulator, {f'and {count} found' if hazards else looked}",
        facts=facts,
        hazards=hazards,
        arrays=arrays,
        lines=lines,
        worst=worst,
        reasons=sentences,
        layouts=layouts,
        output=report.output,
    )


def _array_rows(args: Sequence[Any], before: Sequence[np.ndarray]) -> list[tuple[str, str, str, str]]:
    """A row for each array: its number among the arguments, type and shape, how much was changed, its first values."""
    rows = []
    for (number, value), old in zip(arrays_in(args).items(), before, strict=True):
        same = _bits(old) == _bits(value)
        changed = int(same.size - np.count_nonzero(same))
        flat = value.reshape(-1)[:SHOWN_VALUES].tolist()
        values = " ".join(f"{item:.6g}" if isinstance(item, float) else str(item) for item in flat)
        what = "did not change it" if not changed else f"changed {changed:,} of {value.size:,}"
        shape = " × ".join(f"{extent:,}" for extent in value.shape)
        more = " …" * (value.size > SHOWN_VALUES)
        rows.append((number, f"{value.dtype} {shape}", what, values + more))
    return rows


def _bits(array: np.ndarray) -> np.ndarray:
    """The elements as whole numbers, so that NaN equals itself; (elements, bytes of one)."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(f"V{flat.itemsize}") if flat.itemsize else flat


def _in_words(extent: Any) -> str:
    return " × ".join(map(str, extent)) if isinstance(extent, (tuple, list, np.ndarray)) else str(extent)
