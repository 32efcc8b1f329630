"""The outcome of one run: whether the result is right, how fast it was, and what the kernel was compiled to."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from gemm_lab.cards.hot_lines import HotLines, cost, lines_of
from gemm_lab.lab import on_simulator
from gemm_lab.lab.actions import pipelines, source
from gemm_lab.lab.launchable import Launchable
from gemm_look import theme
from gemm_look.card import card, facts, first_of, folded, mark, printed, remark
from gpu_simulator.argument_checks import as_whole, shown
from gpu_simulator.errors import ConfigError
from gpu_timing.occupancy import Occupancy

FIELDS = (  # of a run in `gemm-lab run --json`
    "kernel", "backend", "m", "n", "k", "passed", "error", "tflops", "timed_at", "wavefronts", "ideal_wavefronts",
)  # fmt: skip
SHOWN_WARNINGS = 3  # compiler warnings

if TYPE_CHECKING:
    from gemm_results.cards.predicted_card import Predicted
    from gemm_results.cards.timeline import Pipeline
    from gpu_simulator.compiler import Compiled


UNKNOWN = "unknown"  # what only NVIDIA's compiler counts, of a kernel that another one compiled


@dataclass(frozen=True)
class Run:
    """The outcome of an m × n × k product on `backend`, "gpu" or "simulator". `message` explains the verdict.

    `tflops` and `cublas_tflops` come from one interleaved run on this GPU at the size `timed_at`: that of the run, but
    at least 2048 in each dimension. `untimed` says why there is no speed. `report` has the simulator's counts of this
    launch; `small` has its counts at a small size after a correct run on a GPU. `recorded` is a row of the recorded
    results, which is shown if the kernel did not run on a GPU, or a sentence that says why their file cannot be read.
    `predicted` is a prediction, or a sentence that says why there is none. `output` is what the kernel printed. sms:
    see `Kernel.grid`.
    """

    kernel: Launchable
    backend: str
    m: int
    n: int
    k: int
    compiled: Compiled
    passed: bool = False
    message: str = ""
    tflops: float | None = None
    cublas_tflops: float | None = None
    timed_at: tuple[int, int, int] | None = None
    untimed: str = ""
    report: Any = None
    recorded: Any = None
    predicted: Predicted | str | None = None
    output: str = ""
    small: on_simulator.Small | None = None
    sms: int | None = None
    occupancy: Occupancy | None = field(default=None, repr=False)
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.occupancy is None and self.compiled.registers:
            object.__setattr__(self, "occupancy", self.kernel.occupancy(self.compiled))

    @property
    def ratio(self) -> float | None:
        """The speed as a fraction of cuBLAS's in the same run; None without a timing."""
        if self.tflops is None or not self.cublas_tflops:
            return None
        return self.tflops / self.cublas_tflops

    @property
    def verdict(self) -> str:
        return "PASS" if self.passed else "FAIL"

    # ---- What the simulator counted ----

    @property
    def wavefronts(self) -> int | None:
        """The shared-memory wavefronts of the launch; None on a GPU, where they are not counted."""
        return self.report.totals.wavefronts if self.report else None

    @property
    def ideal_wavefronts(self) -> int | None:
        """The shared-memory wavefronts that the launch would need without bank conflicts; None on a GPU."""
        return self.report.totals.ideal_wavefronts if self.report else None

    @property
    def conflict_degree(self) -> float | None:
        """Wavefronts ÷ ideal wavefronts; None on a GPU, and without accesses to shared memory."""
        return self.report.totals.conflict_degree if self.report else None

    @property
    def sectors_per_request(self) -> float | None:
        """The average number of 32-byte sectors of global memory that a warp instruction accesses; None on a GPU."""
        return cost(self.report.sites).sectors_per_request if self.report else None

    def hazards(self) -> list:
        """Races, uses of what nobody wrote and missing waits, which the simulator finds at a small size.

        The search is done at the first call.
        """
        return self.hazard_search().found

    def hazard_search(self) -> on_simulator.Hazards:
        """The hazards with the reports of the launches in which they were looked for, at the first call."""
        if "hazards" not in self._kept:
            self._kept["hazards"] = on_simulator.find_hazards(self.kernel, self.compiled, self.sms)
        return self._kept["hazards"]

    def hot_lines(self, *regions: str) -> HotLines:
        """The source with the cost of every line: executions, wavefronts, conflict degree, sectors per request.

        regions: names of the regions that are shown, such as "load"; without any, the whole kernel. After a run on a
        GPU these are the simulator's counts at a small size. Raises `ConfigError` for a region that the kernel lacks.
        """
        for region in regions:
            if not isinstance(region, str):
                name = next(iter(self.kernel.spec.regions))
                raise ConfigError(f"A region is named by its name, such as “{name}”, not {shown(region)}.")
        places = set().union(*(source.places(self.kernel, region) for region in regions)) if regions else None
        return self._hot_lines(self._counted(), places)

    def _hot_lines(self, report: Any, places: set[tuple[str, int]] | None = None) -> HotLines:
        where = "" if self.report else f"on the simulator at {_in_words(self._size_counted())}"
        lines = lines_of(report, list(source.listing(self.kernel)))
        return HotLines(self.kernel.label, lines, report, where, frozenset(places) if places is not None else None)

    def inspect(self, where: int | str, block: int = 0, warp: int = 0) -> Any:
        """A `Snapshot` of registers and shared memory after the last execution of a line by one warp.

        where: the number of a line in the learner's cell, or in the rung's file if the kernel is not edited; or the
        name of a region, for its last executed line. block: its number, or its (x, y) or (x, y, z). Raises
        `ConfigError` if no instruction of the line was executed.
        """
        return self._counted().inspect(self._place(where), *_block_and_warp(block, warp))

    def trace(self, where: int | str, block: int = 0, warp: int = 0) -> list:
        """The addresses of every execution of a line's memory instructions by one warp, as `WarpAccess` items.

        The parameters and errors are those of `inspect`.
        """
        return self._counted().trace(self._place(where), *_block_and_warp(block, warp))

    def timeline(self, **costs: float) -> Pipeline:
        """The timeline of block 0 at this run's size, in logical time; see `Kernel.timeline`."""
        return pipelines.pipeline(self.kernel, self.m, self.n, self.k, self.kernel.taught_gpu().sms, costs)

    def _place(self, where: int | str) -> tuple[str, int]:
        spec = self.kernel.spec
        file = "cell" if self.kernel.edited else spec.file
        if not isinstance(where, str):
            number = as_whole(where)
            if number is None:
                raise ConfigError(f"A place is the number of a line or the name of a region, not {shown(where)}.")
            where, wanted = number, {(file, number)}
        else:
            wanted = source.places(self.kernel, where)
            file = min(wanted)[0]
        places = self._counted().sites_by_line(*dict.fromkeys((file, "cell", spec.file)))
        ran = {place for place, sites in places.items() if any(site.executions for site in sites)}
        found = ran & wanted
        if not found:
            lines = sorted(number for name, number in ran if name == file and number > 0)
            near = min(lines, key=lambda number: abs(number - where)) if lines and isinstance(where, int) else None
            raise ConfigError(
                f"No instruction of {file} ran for {where!r}."
                + (f" The nearest line that did is {near}." if near else "")
            )
        return max(found, key=lambda place: place[1])

    def _counted(self) -> Any:
        """The simulator's report of this launch; after a run on a GPU, that of a launch at a small size.

        If there is no such launch yet, it is done now.
        """
        if self.report is not None:
            return self.report
        if self.small is not None and self.small.report is not None:
            return self.small.report
        if "report" not in self._kept:
            facts = (self.kernel, self.compiled, *self._size_counted())
            self._kept["report"] = on_simulator.check_on_simulator(*facts, 0, self.sms)[1]
        return self._kept["report"]

    def _size_counted(self) -> tuple[int, int, int]:
        return self.small.size if self.small else on_simulator.small_size(self.kernel, self.m, self.n, self.k)

    def _beside(self) -> Any:
        """The simulator's report at a small size after a correct run on a GPU, or None."""
        return self.small.report if self.small else None

    def _stopped(self) -> str:
        if not self.small or not self.small.stopped:
            return ""
        return f"The simulator, at {_in_words(self.small.size)}, stops: {self.small.stopped}"

    def as_dict(self) -> dict[str, Any]:
        """The `FIELDS`."""
        own = {"kernel": self.kernel.name, "error": None if self.passed else self.message}
        return {name: own.get(name, getattr(self, name, None)) for name in FIELDS}

    def _lines(self) -> list[tuple[str, str]]:
        spilled = self.compiled.spill_stores + self.compiled.spill_loads
        pairs = [
            ("size", _in_words((self.m, self.n, self.k))),
            ("compiled for", self.compiled.arch),
            ("registers", str(self.compiled.registers or UNKNOWN)),
            ("shared memory", f"{self.compiled.smem:,} B"),
            ("spilled", f"{spilled} B" if self.compiled.registers else UNKNOWN),
            ("blocks on an SM", self._occupancy()),
        ]
        if self.report is not None and self.ideal_wavefronts:
            pairs.append(("wavefronts", f"{self.wavefronts:,} ({self.conflict_degree:.2f} × ideal)"))
        if self.report is not None:
            pairs.append(("sectors a request", f"{self.sectors_per_request:.1f}"))
        if self.tflops is not None:
            pairs.append(("speed", f"{self.tflops:.1f} TFLOPS{self._elsewhere()}"))
        if self.ratio is not None:
            pairs.append(("of cuBLAS", f"{self.ratio:.0%}"))
        if (beside := self._beside()) and self.small:
            if beside.totals.ideal_wavefronts:
                pairs.append(("wavefronts", f"{beside.totals.conflict_degree:.2f} × ideal"))
            pairs += [
                ("sectors a request", f"{cost(beside.sites).sectors_per_request:.1f}"),
                ("counted", f"by the simulator at {_in_words(self.small.size)}"),
            ]
        return pairs

    def _elsewhere(self) -> str:
        """The size of the timing as " at m × n × k"; "" if it is the size of the run."""
        return "" if self.timed_at in (None, (self.m, self.n, self.k)) else f" at {_in_words(self.timed_at)}"

    def _untimed(self) -> str:
        if not self.untimed:
            return ""
        return f"The result is right at this size;{self._elsewhere()} it was {self.untimed.rstrip('.')}."

    def _where(self) -> str:
        return " on the simulator" if self.backend == "simulator" else ""

    def _occupancy(self) -> str:
        return f"{self.occupancy.blocks} ({self.occupancy.limit})" if self.occupancy else UNKNOWN

    def _compiler(self) -> str:
        """What has to be said of a kernel that NVIDIA's compiler did not compile."""
        if self.compiled.registers:
            return ""
        return "clang's PTX: counts may differ from those of NVIDIA's compiler, which alone makes machine code."

    def _recorded(self) -> str:
        if self.recorded is None or isinstance(self.recorded, str):
            return self.recorded or ""
        r = self.recorded
        best = f" and {r.ratio_cublaslt:.0%} of the best that cuBLASLt offers" if r.ratio_cublaslt else ""
        return (
            f"Recorded on {r.gpu} at {r.m} × {r.n} × {r.k} ({r.regime}): {r.tflops:.1f} TFLOPS, "
            f"{r.ratio_cublas:.0%} of cuBLAS{best} in the same run; "
            f"driver {r.driver}, CUDA {r.cuda}, commit {r.commit}."
        )

    def _small_print(self) -> list[str]:
        """What is said below the verdict in small letters: the compiler, the recorded and the predicted speed."""
        predicted = self.predicted if isinstance(self.predicted, str) else self.predicted and self.predicted.line
        return [text for text in (self._compiler(), self._recorded(), predicted) if text]

    def _warned(self) -> list[str]:
        """The first few warnings of the compiler, as sentences."""
        found = [f"{warning.where}: the compiler warns: {warning.message}" for warning in self.compiled.warnings]
        more = len(found) - SHOWN_WARNINGS
        return found[:SHOWN_WARNINGS] + ([f"… {more} more, in .compiled.warnings"] if more > 0 else [])

    def __repr__(self) -> str:
        lines = [f"{self.verdict}  {self.kernel.label}{self._where()}  {self.message}".rstrip()]
        lines += ["      " + " · ".join(f"{label} {value}" for label, value in self._lines())]
        below = (self._untimed(), self._stopped(), *self._warned(), *self._small_print(), first_of(self.output))
        lines += [f"      {text}" for text in below if text]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return self.page()

    def page(self, hidden: frozenset[tuple[str, int]] = frozenset()) -> str:
        """The card of the run. hidden: (file, line number) of lines whose text and costs are not shown."""
        verdict = theme.tag("b", "good" if self.passed else "bad", f"{mark(self.passed)} {self.verdict}")
        name = f"<b>{escape(self.kernel.label)}</b> {self._where()}"
        body = f"<div>{verdict} &nbsp;{name} &nbsp;{escape(self.message)}</div>{facts(self._lines())}"
        if report := self.report or self._beside():
            lines = self._hot_lines(report).without(hidden)
            body += folded(lines.title, lines.body())
        body += "".join(remark(text, "bad") for text in (self._untimed(), self._stopped()) if text)
        body += "".join(remark(text) for text in self._warned())
        body += "".join(remark(text, "small") for text in self._small_print())
        if self.output.strip():
            body += folded("printed by the kernel", printed(first_of(self.output)))
        return card(body, theme.GOOD if self.passed else theme.BAD)


def _in_words(size: tuple[int, int, int]) -> str:
    return " × ".join(map(str, size))


def _block_and_warp(block: Any, warp: Any) -> tuple[Any, int]:
    """The block and the warp as ints. A block may also be its (x, y) or (x, y, z). Raises `ConfigError` otherwise."""
    several = isinstance(block, (tuple, list)) and 2 <= len(block) <= 3
    numbers = [as_whole(part) for part in (*(block if several else [block]), warp)]
    whole = [number for number in numbers if number is not None]
    if len(whole) < len(numbers):
        raise ConfigError(
            f"A block is a number or its (x, y), and a warp is a number, not {shown(block)} and {shown(warp)}."
        )
    return (tuple(whole[:-1]) if several else whole[0]), whole[-1]
