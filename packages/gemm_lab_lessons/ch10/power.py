"""What one H200 did when the same kernels multiplied different numbers: speed, clock and energy, from results/power.

Nothing of another GPU is mixed in: each GPU has files of its own. They were recorded once, and each row names its
commit, which has the programs (`tools/recording/power.py` and `requests.py`). A kernel was timed in both regimes on
zeros, small integers, uniform mantissas and N(0, 1). A copy of it read %clock64 and %globaltimer when a block began and
ended, so the clock is known at which the SMs really ran; `plain_tflops` is the kernel without these stamps, in turns
with the copy. The power is the slope of NVML's counter of the whole board's energy, from its first step in the measured
seconds to its last. `<gpu>_trace.csv` has the first two seconds after a rest, `<gpu>_l2.csv` how fast all SMs read
buffers of different sizes, and `<gpu>_requests.csv` what Nsight Compute counted of the reads that SMs received and L2
was asked for. Between these two stands the L2 Request Coalescer, which NVIDIA's Profiling Guide says tries to merge
reads before they go on to L2, and serves multicast.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gemm_lab.config import data_dir
from gemm_lab_lessons.ch10.tile_bounds import bytes_per_clock as bytes_per_clock
from gemm_lab_lessons.ch10.tile_bounds import peak_at
from gemm_look import style
from gemm_look.table import ShownAsTable, Table
from gemm_results.errors import LabError
from gemm_results.profile import read_rows, typed
from gpu_simulator.hardware.data_sheets import gpu as gpu_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {"zeros": style.SKY, "integers": style.GREEN, "mantissas": style.ORANGE, "normal": style.VERMILION}
SAID = {"zeros": "zeros", "integers": "−2 to 2", "mantissas": "±1.0 to 2.0", "normal": "N(0, 1)"}


@dataclass(frozen=True)
class Row:
    """One kernel on one kind of input in one regime. Units: TFLOPS, MHz, watts, joules for 10¹² operations.

    clock_mhz: as the kernel's own blocks saw it; None for a library.   nvml_mhz: NVML's reading in the same seconds.
    watts, joules_per_tflop: of the whole board; None in bursts, which are too short for NVML's counter.
    plain_tflops: the kernel without the stamps, in bursts alone.   reasons: NVML's names for why the clock is lowered.
    """

    kernel: str
    input: str
    regime: str
    n: int
    tflops: float
    clock_mhz: float | None
    nvml_mhz: float
    watts: float | None
    joules_per_tflop: float | None
    plain_tflops: float | None
    reasons: str | None
    gpu: str
    driver: str
    cuda: str
    commit: str
    date: str

    @property
    def share_of_clock(self) -> float | None:
        """The speed as a share of what the tensor cores can do at the clock that the kernel saw; None without one."""
        return self.tflops / peak_at(self.clock_mhz, gpu_of(self.gpu).sms) if self.clock_mhz else None


class Rows(ShownAsTable, list):
    """Rows, displayed as a table."""

    def of(self, **wanted: object) -> Rows:
        """The rows with these values, such as `of(regime="burst")`; `kernel` may be a part of a name."""

        def fits(row: Row, name: str, value: object) -> bool:
            return str(value) in row.kernel if name == "kernel" else getattr(row, name) == value

        return Rows(row for row in self if all(fits(row, *one) for one in wanted.items()))

    def _table(self) -> Table:
        units = ["TFLOPS", "clock seen", "NVML", "% of that clock’s peak", "W", "J per TFLOP"]
        header = ["kernel", "input", "regime", *units]
        body = [
            [
                row.kernel, SAID[row.input], row.regime, f"{row.tflops:.0f}", _number(row.clock_mhz, ",.0f"),
                f"{row.nvml_mhz:,.0f}", _number(row.share_of_clock, ".1%").rstrip("%"), _number(row.watts, ".0f"),
                _number(row.joules_per_tflop, ".3f"),
            ]
            for row in self
        ]  # fmt: skip
        return Table(header, body, conditions(self), text_columns=3)


def recorded(gpu: str = "h200") -> Rows:
    """All recorded rows of a GPU. Raises `LabError` if there are none."""
    return Rows(typed(Row, line) for line in _lines(f"{gpu_of(gpu).key}.csv"))


def conditions(rows: Sequence[Row]) -> str:
    """What has to stand beside the numbers."""
    if not rows:
        return "No row."
    row = rows[0]
    return (
        f"{row.n} × {row.n} × {row.n}, BF16, on {row.gpu}, driver {row.driver}, CUDA {row.cuda}, {row.date}, commit "
        f"{row.commit}. Sustained: 4 s after 1 s of work. Burst: median of twelve, each of 3 launches after 0.15 s "
        "of rest."
    )


def requests(gpu: str = "h200") -> list[dict[str, str]]:
    """What multiprocessors received and what L2 was asked for, by Nsight Compute; numbers are text."""
    return _lines(f"{gpu_of(gpu).key}_requests.csv")


# ---- Pictures ----


@style.drawn
def plot_clocks(rows: Iterable[Row], supply: tuple[float, float], tiles: dict[str, tuple[int, int]]) -> Figure:
    """Speed over the clock that the kernel saw: the tensor cores' peak, and what the supply of bytes allows.

    supply: the least and the most TB/s of tiles, drawn as a band.
    tiles: {name of a kernel: its (block_m, block_n)}; only these are drawn. Filled marks are bursts.
    """
    rows = [row for row in rows if row.kernel in tiles and row.clock_mhz]
    fig = style.figure(style.WIDTH, 5.0)
    ax = style.axes(fig, left=0.75, right=2.5, top=0.5, bottom=1.35)
    sms, lowest, highest = gpu_of(rows[0].gpu).sms, 1200, 1850
    ax.plot([lowest, highest], [peak_at(mhz, sms) for mhz in (lowest, highest)], color=style.INK, linewidth=style.LINE)
    labels = [(peak_at(highest, sms), "peak at this clock", style.INK)]
    for (name, (block_m, block_n)), marker in zip(tiles.items(), "os^", strict=False):
        low, high = (terabytes * block_m * block_n / (block_m + block_n) for terabytes in supply)
        ax.axhspan(low, high, color=style.MEMORY["L2"], alpha=0.25, linewidth=0)
        words = f"{supply[0]:.1f} to {supply[1]:.1f} TB/s, {block_m} × {block_n}"
        labels.append(((low + high) / 2, words, style.MEMORY["L2"]))
        for row in rows:
            if row.kernel == name:
                colour = KINDS[row.input]
                ax.plot(
                    row.clock_mhz, row.tflops, marker=marker, markersize=8, linestyle="", markeredgecolor=colour,
                    markerfacecolor=colour if row.regime == "burst" else style.PAPER, zorder=4,
                )  # fmt: skip
    ax.set_xlim(lowest, highest)
    ax.set_ylim(550, 1010)
    style.axis_titles(ax, "clock that the kernel saw, MHz", "TFLOPS")
    style.labels_right(ax, labels)
    words = zip(("blue", "green", "orange", "red"), KINDS, strict=True)
    inks = ", ".join(f"{word}: {SAID[kind]}" for word, kind in words)
    names = "; ".join(
        f"{shape}: {name}" for shape, name in zip(("circles", "squares", "triangles"), tiles, strict=False)
    )
    style.caption(fig, f"{names}.\nFilled: burst. {inks}.\n{conditions(rows).split(', driver')[0]}.", 0.75)
    return fig


@style.drawn
def plot_trace(kernel: str, gpu: str = "h200", until_ms: float = 2000) -> Figure:
    """The clock that a kernel saw after a second of rest, for zeros and for N(0, 1), and the power that NVML gave."""
    lines = [line for line in _lines(f"{gpu_of(gpu).key}_trace.csv") if line["kernel"].endswith(kernel)]
    if not lines:
        raise LabError(f"No trace of {kernel} is recorded for {gpu}.")
    fig = style.figure(style.WIDTH, 5.6)
    for place, (column, title, top) in enumerate((("clock_mhz", "clock seen, MHz", 1900), ("watts", "NVML, W", 750))):
        ax = style.axes(fig, left=0.75, right=1.6, top=0.5 + place * 2.4, bottom=5.6 - 0.5 - place * 2.4 - 1.6)
        labels = []
        for kind in ("zeros", "normal"):
            mine = [line for line in lines if line["input"] == kind and float(line["ms"]) <= until_ms]
            xs, ys = [float(line["ms"]) for line in mine], [float(line[column]) for line in mine]
            ax.plot(xs, ys, color=KINDS[kind], linewidth=style.THICK)
            labels.append((ys[-1], SAID[kind], KINDS[kind]))
        ax.set_xlim(0, until_ms)
        ax.set_ylim(1000 if column == "clock_mhz" else 0, top)
        style.axis_titles(ax, "ms after a second of rest" if place else "", title)
        style.labels_right(ax, labels)
    style.caption(fig, f"{lines[0]['kernel']} at {lines[0]['n']}, launch after launch, on {gpu_of(gpu).name}.", 0.75)
    return fig


@style.drawn
def plot_l2(gpu: str = "h200") -> Figure:
    """How fast all SMs together read a buffer again and again past L1, over the size of the buffer."""
    lines = _lines(f"{gpu_of(gpu).key}_l2.csv")
    xs, ys = [float(line["megabytes"]) for line in lines], [float(line["terabytes_per_s"]) for line in lines]
    fig = style.figure(style.WIDTH, 3.6)
    ax = style.axes(fig, left=0.75, right=0.4, top=0.5, bottom=0.95)
    ax.plot(xs, ys, color=style.MEMORY["L2"], marker="o", linewidth=style.LINE)
    ax.set_xscale("log", base=2)
    style.plain_ticks(ax.xaxis, [2, 4, 8, 16, 32, 64, 256])
    ax.set_ylim(0, 10)
    style.axis_titles(ax, "MB that are read again and again", "TB/s")
    sheet = gpu_of(gpu)
    memory = f"its L2 has {sheet.l2_mb} MB, its DRAM {sheet.dram_gbps / 1000} TB/s"
    style.caption(fig, f"Loads of 16 bytes past L1 on {sheet.name}; {memory}.", 0.75)
    return fig


# ---- Files ----


def _lines(name: str) -> list[dict[str, str]]:
    path: Path = data_dir("results") / "power" / name
    if not path.is_file():
        raise LabError(f"results/power has no {name}: power was recorded on an H100 and on an H200 only.")
    return read_rows(path)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)
