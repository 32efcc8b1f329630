"""`lab.ladder("t4")`: all rungs of a ladder, which can be timed together."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

from gemm_lab import catalog
from gemm_lab.catalog import LadderSpec
from gemm_lab.lab.here import RECORDED_ON, here, resolve_backend
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_look.card import card
from gemm_look.table import ShownAsTable, Table
from gemm_results.errors import LabError
from gemm_results.statistics import times_as_fast
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.errors import SizeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from gemm_lab.lab.actions.ablating import Ablation
    from gemm_lab.lab.actions.predicted_ladder import PredictedLadder

SIZES = (2048, 4096, 8192)
TUNED = "tuned"  # the name of whatever a sweep chose for each size


@dataclass(frozen=True)
class Ladder:
    """The rungs of one ladder; `kernels` has them in teaching order, with the settings for the GPU here."""

    spec: LadderSpec = field(repr=False)
    kernels: list[Kernel] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kernels", [kernel(k.name) for k in self.spec.kernels])

    @property
    def name(self) -> str:
        return self.spec.name

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.spec.kernels)

    def __getitem__(self, index: int) -> Kernel:
        return self.kernels[index]

    @checked
    def bench(
        self,
        sizes: int | Iterable[int] = SIZES,
        *,
        regime: str = "sustained",
        rounds: int | None = None,
        baselines: Iterable[str] | None = None,
        progress: bool | Callable = True,
        also: Iterable[Kernel] = (),
    ) -> Bench:
        """Time the rungs, the baselines and the ceiling at each size, in interleaved rounds.

        Without a GPU this returns the recorded run, and says so. regime: "sustained" or "burst". rounds: by default 30,
        and 10 in bursts. also: kernels to time besides the rungs, such as the learner's own. Raises `LabError` if
        nothing could be timed and `SizeError` for a size that a rung cannot multiply.
        """
        if not isinstance(also, (list, tuple)) or not all(isinstance(other, Kernel) for other in also):
            raise LabError(f"also takes a list of kernels, such as [lab.kernel(…)], not {shown(also)}.")
        sizes, rungs = _sizes(sizes), [*self.kernels, *also]
        for rung in rungs:
            for n in sizes:
                rung.spec.require_size(rung.config, n, n, n)
        if rounds is not None and rounds < 1:
            raise LabError(f"A bench takes at least 1 round, not {rounds}.")
        if resolve_backend(None, timing=True) != "gpu":
            return self.recorded(sizes, regime)
        from gemm_lab.lab.measuring import benchmark_kernels

        wanted = tuple(self.spec.baselines) if baselines is None else tuple(baselines)
        ceiling = kernel(self.spec.ceiling) if self.spec.ceiling else None
        rows = benchmark_kernels(
            rungs, sizes, baselines=wanted, ceiling=ceiling, regime=regime, rounds=rounds, progress=progress
        )
        for what, why in rows.skipped.items():
            print(f"not timed: {what}: {why}", file=sys.stderr)
        if not rows:
            raise LabError("Nothing could be timed: " + "; ".join(rows.skipped.values()))
        return Bench(self, rows, recorded=False)

    @checked
    def recorded(self, sizes: int | Iterable[int] = SIZES, regime: str = "sustained") -> Bench:
        """The rows of this ladder that were recorded on the H200, each rung with its settings for that GPU.

        `Bench.tuned` has the rows of what a sweep chose for a size. Raises `LabError` if there are none at `sizes`.
        """
        from gemm_lab.lab.tuning import current
        from gemm_results.results import path_of, recorded, with_samples

        sizes, names = _sizes(sizes), {self.spec.ceiling}
        rows = [r for r in recorded(RECORDED_ON) if (r.ladder == self.name or r.kernel in names) and r.regime == regime]
        rows, swept = current(rows, RECORDED_ON)
        needed = f"To measure it, a GPU is needed: {here().reason or 'the GPU here can be used.'}"
        if not {r.kernel for r in rows} & {k.name for k in self.spec.kernels}:
            only = f", only {', '.join(sorted({r.kernel for r in rows}))}" if rows else ""
            raise LabError(f"No {regime} run of the ladder {self.name} has been recorded{only}. {needed}")
        kept = with_samples((r for r in rows if r.n in sizes), path_of(RECORDED_ON))
        if not kept:
            known = ", ".join(str(n) for n in sorted({r.n for r in rows}))
            raise LabError(f"No run at {', '.join(map(str, sizes))} is recorded; recorded sizes are {known}. {needed}")
        kept = [self._of_this_run(r, kept) if r.kernel in names else r for r in kept]
        swept = with_samples((r for r in swept if r.n in sizes), path_of(RECORDED_ON))
        return Bench(self, kept, recorded=True, tuned=swept)

    @checked
    def ablate(self, rung: str, n: int = 4096, *, regime: str = "sustained", rounds: int | None = None) -> Ablation:
        """A rung with each of its ideas left out in turn: what each changes in the counts, and what it gains in time.

        On a GPU the rung and all variants are timed at n × n × n in interleaved rounds, without one the recorded run
        is shown. Counts are the simulator's, at the smallest size that all of them multiply. Raises `LabError` for a
        rung without ablations; the message names those that have some.
        """
        from gemm_lab.lab.actions.ablating import ablate

        return ablate(self.spec, rung, n, regime, rounds)

    @checked
    def predict(
        self, on: str = RECORDED_ON, sizes: int | Iterable[int] = 4096, *, progress: bool = True
    ) -> PredictedLadder:
        """Predict all rungs on GPU `on`, with the settings for that GPU; nothing is measured, and no GPU is needed.

        A rung that cannot be predicted is a row with its reason. Raises a `LabError` that lists the known GPUs.
        """
        from gemm_lab.lab.actions.predicted_ladder import predict

        return predict(self.spec, on, _sizes(sizes), progress)

    @checked
    def tuned(self, n: int, on: str = RECORDED_ON) -> Kernel:
        """The kernel with the tile and the order of blocks that a recorded sweep on GPU `on` chose for n × n × n.

        Of a size that was not swept, it is the choice of the nearest. Raises `LabError` if no sweep is recorded.
        """
        from gemm_lab.lab.tuning import tuned

        return tuned(self.name, n, on)

    def _of_this_run(self, ceiling: Any, rows: list[Any]) -> Any:
        """The row of a ceiling with the speed that was measured in the same run as the rungs in `rows`.

        Several ladders share a ceiling, so `ceiling` may be from the run of another ladder.
        """
        rungs = [r for r in rows if r.ladder == self.name and r.n == ceiling.n and r.ceiling_tflops]
        if not rungs or any(r.commit == ceiling.commit and r.ceiling_tflops == ceiling.tflops for r in rungs):
            return ceiling
        speed, like = statistics.median(r.ceiling_tflops for r in rungs), rungs[-1]
        own = {name: getattr(ceiling, name) for name in ("kernel", "ladder", "config", "dtype")}
        own |= dict.fromkeys(("tflops", "tflops_low", "tflops_high", "ceiling_tflops"), speed)
        ratio = speed / like.cublas_tflops if like.cublas_tflops else None
        return replace(like, **own, ratio_ceiling=1.0, ratio_cublas=ratio, samples_ms=())

    def __repr__(self) -> str:
        lines = [f"{self.name}: {self.spec.title}. {self.spec.problem.formula}"]
        return "\n".join(lines + [f"  {k.name:32} {k.summary}" for k in self.spec.kernels])

    def _repr_html_(self) -> str:
        rows = [[k.name, k.summary] for k in self.spec.kernels]
        head = f"<b>{escape(self.spec.title)}</b> &nbsp;{escape(self.spec.problem.formula)}"
        return card(head + Table(["kernel", "what it adds"], rows, text_columns=2).html())


@dataclass(frozen=True, repr=False)
class Bench(ShownAsTable):
    """Measured or recorded rows of one ladder. It is displayed as a table; `.plot()` draws a picture.

    tuned: rows of the settings that a sweep chose for a size; `tflops` and `ratio` call each of them "tuned".
    """

    ladder: Ladder
    rows: list[Any] = field(repr=False)
    recorded: bool = False
    tuned: list[Any] = field(default_factory=list, repr=False)

    @property
    def sizes(self) -> list[int]:
        return sorted({r.n for r in self.rows})

    @checked
    def tflops(self, name: str, n: int) -> float:
        """The median TFLOPS of a kernel, a baseline ("cublas"), a ceiling or "tuned" at n; else a `LabError`."""
        return self._row(name, n).tflops

    def _row(self, name: str, n: int) -> Any:
        if name == TUNED and (swept := [row for row in self.tuned if row.n == n]):
            return swept[0]
        rows = [row for row in self.rows if row.n == n]
        exact = [row for row in rows if name in (row.kernel, row.kernel.split("/")[-1])]
        for row in exact or [row for row in rows if row.kernel.startswith(f"{name}_")]:
            return row
        known = sorted({row.kernel for row in self.rows})
        raise LabError(f"There is no row for “{name}” at {n}; there are {', '.join(known)} at {self.sizes}.")

    @checked
    def ratio(self, name: str, over: str, n: int) -> float:
        """How many times as fast as `over` the kernel `name` is at size n: the median over the rounds of this run."""
        row, base = self._row(name, n), self._row(over, n)
        if row.ratio_ceiling and base.kernel == self.ladder.spec.ceiling:
            return row.ratio_ceiling
        return times_as_fast(row, base)

    @checked
    def up_to(self, name: str) -> Bench:
        """The same run without the rungs above `name`. Raises `LabError` if that is no rung of this ladder."""
        names, last = [k.name for k in self.ladder.spec.kernels], catalog.kernel(name).name
        if last not in names:
            raise LabError(f"{last} is no rung of the ladder {self.ladder.name}; its rungs are {', '.join(names)}.")
        above = names[names.index(last) + 1 :]
        return replace(self, rows=[row for row in self.rows if row.kernel not in above])

    @checked
    def plot(self, lit: str | None = None, n: int | None = None, published: bool = True) -> Figure:
        """Plot the rungs with cuBLAS and the ceiling at size n (default: the largest). lit: a rung to highlight.

        published: also draw the shares of cuBLAS that a text has published for these rungs.
        """
        from gemm_results import plots

        return plots.bench(self, lit=lit, n=n or self.sizes[-1], published=published)

    def as_dicts(self) -> list[dict[str, Any]]:
        """One plain dict per row, for `--json`."""
        return [asdict(row) for row in self.rows]

    def _table(self) -> Table:
        order = {spec.name: index for index, spec in enumerate(self.ladder.spec.kernels)}
        names = sorted(dict.fromkeys(r.kernel for r in self.rows), key=lambda name: order.get(name, len(order)))
        plain = self.sizes if any(r.ratio_cublas for r in self.rows) else []  # products of 8 bits have no plain cuBLAS
        header = ["kernel", *(f"TFLOPS at {n}" for n in self.sizes), *(f"% of cuBLAS at {n}" for n in plain)]
        by_key = {(r.kernel, r.n): r for r in self.rows} | {(TUNED, r.n): r for r in self.tuned}
        rungs = sum(name in order for name in names)
        names[rungs:rungs] = [TUNED] if self.tuned else []
        best = [n for n in self.sizes if any(r.n == n and r.ratio_cublaslt for r in self.rows)]
        header += [f"% of cuBLASLt’s best at {n}" for n in best]
        rivals = [r for r in self.rows if r.kernel.startswith("cutlass_")]
        cutlass = {r.n: r for r in sorted(rivals, key=lambda r: r.tflops)}
        header += [f"÷ CUTLASS at {n}" for n in self.sizes if n in cutlass]

        def percent(ratio: float | None) -> str:
            return f"{100 * ratio:.1f}" if ratio else ""

        body = []
        for name in names:
            at = {n: by_key.get((name, n)) for n in self.sizes}
            speeds = [f"{r.tflops:.1f}" if r else "" for r in at.values()]
            speeds += [percent(r and r.ratio_cublas) for n, r in at.items() if n in plain]
            speeds += [percent(r and r.ratio_cublaslt) for n, r in at.items() if n in best]
            speeds += [f"{times_as_fast(r, cutlass[n]):.3f}" if r else "" for n, r in at.items() if n in cutlass]
            body.append([name, *speeds])
        return Table(header, body, self._caption())

    def _caption(self) -> str:
        rungs = [row for row in self.rows if row.ladder == self.ladder.name] or list(self.rows)
        r, clock = rungs[-1], statistics.median(row.sm_clock_mhz for row in rungs)
        power = statistics.median(row.power_w for row in rungs)
        source = "recorded" if self.recorded else "measured now"
        has_ceiling = any(row.kernel.startswith("ceilings/") for row in self.rows)
        ceiling = " (the ceiling’s: ± 1 to 2)" if has_ceiling else ""
        return (
            f"TFLOPS, median of {r.rounds} rounds, {r.regime}, inputs N(0, 1){ceiling}, {source} on {r.gpu}, "
            f"driver {r.driver}, CUDA {r.cuda}, about {clock:,.0f} MHz, {power:.0f} W, commit {r.commit}, {r.date}"
        )


def _sizes(sizes: int | Iterable[int]) -> list[int]:
    """One or several sizes as a list of ints. Raises `SizeError` if one is not a whole number."""
    items: list[Any] = [sizes]
    if isinstance(sizes, Iterable) and not isinstance(sizes, (str, bytes)) and as_whole(sizes) is None:
        items = list(sizes)
    whole = [number for number in map(as_whole, items) if number is not None]
    if len(whole) < len(items) or not whole:
        raise SizeError(f"Sizes are whole numbers, such as [2048, 4096], not {shown(sizes)}.")
    return whole


def ladder(name: str) -> Ladder:
    """A ladder by its name, such as "simt" or "t4"."""
    return Ladder(catalog.ladder(name))


def measured_ladders() -> list[str]:
    """The names of the ladders that are recorded by default: those with a baseline. Lessons and ceilings have none."""
    return [name for name, spec in catalog.ladders().items() if spec.baselines]
