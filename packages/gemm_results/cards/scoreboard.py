"""The results of `scoreboard()`: the fastest rung of each ladder, the gain of each idea, and published speeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from gemm_look.card import card, remark
from gemm_look.table import Table
from gemm_results import results
from gemm_results.ablation import Gain, gain, settings
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import SimulatorError
from gpu_simulator.hardware.data_sheets import Gpu, gpu


class Catalog(Protocol):
    """The ladders and the kernels by name, as `gemm_lab.catalog` has them."""

    DTYPE_BYTES: Mapping[str, int]

    def kernels(self) -> Mapping[str, Any]: ...
    def kernel(self, name: str) -> Any: ...
    def ladder(self, name: str) -> Any: ...


@dataclass(frozen=True)
class Board:
    """Measured rows of one GPU, size and regime, ladder by ladder in reading order.

    rows: of rungs with their own settings, of baselines and ceilings.   missing: ladders that have kernels and no rows.
    path: the file of the rows.   tuned: rows of the settings that a sweep on this GPU chose for this size.
    """

    name: str  # the GPU's name, as its driver gives it
    n: int
    regime: str
    rows: tuple[Any, ...] = field(repr=False)
    catalog: Catalog = field(repr=False)
    missing: tuple[str, ...] = ()
    path: Path | None = field(default=None, repr=False)
    tuned: tuple[Any, ...] = field(default=(), repr=False)

    @property
    def gpu(self) -> Gpu:
        return gpu(self.name)

    @property
    def ladders(self) -> dict[str, list[Any]]:
        """{ladder: its rungs, in teaching order}."""
        found: dict[str, list[Any]] = {}
        for row in self.rows:
            if row.kernel in self.catalog.kernels():
                found.setdefault(row.ladder, []).append(row)
        return found

    @checked
    def row(self, name: str) -> Any:
        """The row of one kernel, by its name or the beginning of it, with its own settings for this GPU.

        "hopper/tuned" is the row of what a sweep chose for this size. Raises `LabError` if it was not measured.
        """
        ladder, _, rung = name.partition("/")
        if rung == "tuned" and (swept := [row for row in self.tuned if row.ladder == ladder]):
            return swept[0]
        spec = self.catalog.kernel(name)
        for row in self.rows:
            if row.kernel == spec.name:
                return row
        raise LabError(
            f"{spec.name} was not measured on {self.name} at {self.n}, {self.regime}; "
            f"there are rows of {', '.join(self.ladders)}."
        )

    @checked
    def best(self, ladder: str) -> Any:
        """The row of the fastest rung of a ladder, with its own settings or with those that a sweep chose for the size.

        Raises `LabError` if the ladder was not measured.
        """
        if ladder not in self.ladders:
            raise LabError(
                f"The ladder {ladder} was not measured on {self.name} at {self.n}, {self.regime}; "
                f"there are {', '.join(self.ladders)}."
            )
        swept = [row for row in self.tuned if row.ladder == ladder]
        return max([*self.ladders[ladder], *swept], key=lambda row: row.tflops)

    # ---- What an idea gained ----

    @checked
    def gain(self, after: str, before: str | None = None) -> Gain:
        """The gain of `after` over the rung that it extends, or over `before`.

        Raises `LabError` if there is no rung to compare with, or if the rows are from different runs.
        """
        base = before or self.catalog.kernel(after).extends
        if base is None:
            raise LabError(f"{after} extends no rung; name the kernel to compare it with.")
        return gain(self.row(base), self.row(after), self._samples)

    @checked
    def gains(self, ladder: str) -> Gains:
        """The gain of every rung of a ladder over the one that it extends. Raises `LabError` if it was not measured."""
        done, refused = [], []
        for row in self.ladders.get(ladder) or [self.best(ladder)]:
            base = self.catalog.kernel(row.kernel).extends
            if base is None or not base.startswith(f"{ladder}/"):
                continue
            try:
                done.append(self.gain(row.kernel))
            except SimulatorError as error:
                refused.append(str(error))
        titles = {row.after.kernel: self.catalog.kernel(row.after.kernel).title for row in done}
        return Gains(ladder, tuple(done), titles, tuple(refused))

    @cached_property
    def _samples(self) -> dict[Any, Sequence[float]]:
        if self.path is None:
            return {}
        return {row: row.samples_ms for row in results.with_samples(self.rows, self.path) if row.samples_ms}

    # ---- Beside others ----

    @checked
    def published(self, ladder: str) -> PublishedBesideMeasured:
        """For rungs that follow a published kernel: its share of cuBLAS on its own GPU, and the share measured here.

        Raises `LabError` if no published text gives a share at this size.
        """
        from gemm_results.plots.bench import published_rows

        spec = self.catalog.ladder(ladder)
        lines = [
            (row.kernel, figure.percent_of_cublas, 100 * self.row(row.kernel).ratio_cublas)
            for figure in published_rows(spec, self.n)
            for row in self.ladders.get(ladder, [])
            if row.kernel == figure.kernel and figure.percent_of_cublas and row.ratio_cublas
        ]
        if not lines:
            raise LabError(f"No published text gives a share of cuBLAS at {self.n} for a rung of the ladder {ladder}.")
        return PublishedBesideMeasured(gpu(spec.gpu).name, self.name, self.n, tuple(sorted(set(lines))))

    # ---- On the roofline ----

    @checked
    def intensity(self, name: str) -> float:
        """FLOP per byte of the reads of a block for its tile; reuse between blocks is not counted.

        A kernel that rounds its operands itself reads them in the type in which they are stored.
        """
        from gemm_results.roofline_model import intensity

        row = self.row(name)
        config = settings(row)
        stored = self.catalog.ladder(row.ladder).problem.dtype_in
        return intensity(config["BLOCK_M"], config["BLOCK_N"], self.catalog.DTYPE_BYTES[stored])

    @checked
    def shared_reads(self, name: str) -> float:
        """The least share, 0 to 1, of a kernel's reads that L2 served: DRAM cannot exceed its data-sheet bandwidth."""
        return max(0.0, 1 - self.intensity(name) * self.gpu.dram_gbps / 1000 / self.row(name).tflops)

    # ---- Display ----

    @checked
    def plot(self, lit: str | None = None, beside: Board | None = None):
        """A Figure with a dot for every rung, ladder beside ladder, on a log scale.

        lit: the kernel to highlight.   beside: the board of another GPU, whose dots are added.
        """
        from gemm_results.plots.scoreboard_plot import scoreboard as draw

        return draw(self, lit=lit, beside=beside)

    def roofline(self):
        """A Figure of the GPU's roofline with the fastest rung of each ladder."""
        from gemm_results.plots.rooflines import roofline

        points: list[tuple[str, float, float]] = []
        for ladder in sorted(self.ladders, key=lambda name: self.best(name).tflops):
            x, y = self.intensity(self.best(ladder).kernel), self.best(ladder).tflops
            if points and points[-1][1] == x and y < 1.1 * points[-1][2]:  # their labels would overlap
                points[-1] = (f"{points[-1][0]}, {ladder}", x, y)
            else:
                points.append((ladder, x, y))
        peaks = {"BF16 tensor": self.gpu.peak("bf16", "f32"), "FP32": self.gpu.fp32_tflops}
        return roofline({"DRAM": self.gpu.dram_gbps}, points, ceilings=peaks, height=5.0)

    def caption(self) -> str:
        from gemm_results.plots.rows import conditions

        rungs = [row for rows in self.ladders.values() for row in rows]
        commits = sorted({row.commit for row in rungs})
        return conditions(rungs).replace("\n", " · ") + (f" · commits {', '.join(commits)}" if len(commits) > 2 else "")

    def _table(self) -> Table:
        shares = ["% of cuBLAS", "% of cuBLASLt’s best", "% of its ceiling"]
        header = ["ladder", "rungs", "fastest", "types", "TFLOPS", *shares]
        body = []
        for name, rows in self.ladders.items():
            best = self.best(name)
            own = [name, str(len(rows)), best.kernel.split("/")[1], best.dtype, f"{best.tflops:.1f}"]
            ratios = (best.ratio_cublas, best.ratio_cublaslt, best.ratio_ceiling)
            body.append([*own, *(f"{100 * ratio:.1f}" if ratio else "" for ratio in ratios)])
        body += [[name, "", "not measured", "", "", "", "", ""] for name in self.missing]
        return Table(header, body, self.caption(), 4)

    def __repr__(self) -> str:
        return "\n".join([*self._table().lines(aligned=False), self.caption()])

    def _repr_html_(self) -> str:
        return card(self._table().html())


@dataclass(frozen=True)
class Gains:
    """The gain of each rung of a ladder over the one that it extends.

    titles: the idea of each rung.   refused: for each rung without a gain, a sentence that says why.
    """

    ladder: str
    rows: tuple[Gain, ...]
    titles: Mapping[str, str]
    refused: tuple[str, ...] = ()

    def __iter__(self):
        return iter(self.rows)

    def plot(self):
        """A Figure of the ratios with their quartiles, on a log scale, where 2 and ½ are equally far from 1."""
        from gemm_results.plots.scoreboard_plot import gains as draw

        return draw(self)

    def _table(self) -> Table:
        body = []
        for row in self.rows:
            moved = ", ".join(f"{name} {old} → {new}" for name, (old, new) in row.moved.items())
            quartiles = f"{row.low:.3f} – {row.high:.3f}{'' if row.paired else ' *'}"
            kernel, title = row.after.kernel, self.titles[row.after.kernel]
            body.append([kernel.split("/")[1], title, moved or "nothing", f"{row.ratio:.3f}", quartiles])
        header = ["rung", "idea", "settings that moved with it", "times as fast", "quartiles"]
        return Table(header, body, text_columns=3)

    def _notes(self) -> list[str]:
        unpaired = ["* no samples were kept: the ratio of the medians, and the range that both rows' quartiles allow"]
        return unpaired * any(not row.paired for row in self.rows) + [f"refused: {text}" for text in self.refused]

    def __repr__(self) -> str:
        return "\n".join([*self._table().lines(aligned=False), *self._notes()])

    def _repr_html_(self) -> str:
        return card(self._table().html() + "".join(remark(text, "warn") for text in self._notes()))


@dataclass(frozen=True)
class PublishedBesideMeasured:
    """Published and measured shares of cuBLAS for one ladder and size.

    there: the GPU of the publication.   rows: (kernel, published %, measured %).
    """

    there: str
    measured_on: str
    n: int
    rows: tuple[tuple[str, float, float], ...]

    def _table(self) -> Table:
        header = ["rung", f"published: {self.there}", f"measured: {self.measured_on}"]
        rows = [[name, f"{there:.1f}", f"{here_:.1f}"] for name, there, here_ in self.rows]
        return Table(header, rows, f"Percent of cuBLAS, each on its own GPU; ours at {self.n}.")

    def __repr__(self) -> str:
        foot = f"percent of cuBLAS, each on its own GPU; ours at {self.n}"
        return "\n".join([*self._table().lines(aligned=False), foot])

    def _repr_html_(self) -> str:
        return card(self._table().html())
