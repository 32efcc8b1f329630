"""Products with few rows of A: how the work is shared out, and what was recorded in results/decode.

`python -m tools.recording decode` records it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gemm_lab.config import data_dir
from gemm_look import style
from gemm_look.table import ShownAsTable, Table
from gemm_results.errors import LabError
from gemm_results.profile import read_rows, typed
from gpu_simulator.hardware.data_sheets import gpu as gpu_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SPLITS = (1, 2, 3, 4, 8, 16)  # that were recorded


@dataclass(frozen=True)
class Shares:
    """The work of a product whose tiles are each cut in `split` parts, one for a block, on `sms` multiprocessors.

    A unit of work is one k tile of one tile of D. Blocks are shared out evenly.
    """

    tiles: int
    k_tiles: int
    split: int
    sms: int

    @property
    def blocks(self) -> int:
        return self.tiles * self.split

    @property
    def rounds(self) -> int:
        """Blocks of a multiprocessor that has most."""
        return -(-self.blocks // self.sms)

    @property
    def last_round(self) -> float:
        """The share of the multiprocessors that has a block in the last round."""
        return (self.blocks - (self.rounds - 1) * self.sms) / self.sms

    @property
    def longest(self) -> int:
        """Units of the multiprocessor that has most: every one of its blocks may have the longest part."""
        return self.rounds * -(-self.k_tiles // self.split)

    @property
    def used(self) -> float:
        """The share of the multiprocessors' time that is work, if a unit always takes as long."""
        return self.tiles * self.k_tiles / (self.longest * self.sms)


def shares(m: int, n: int, k: int, block: tuple[int, int, int], split: int, sms: int) -> Shares:
    """Of an m × n × k product with tiles of `block`, (BLOCK_M, BLOCK_N, BLOCK_K)."""
    return Shares(math.ceil(m / block[0]) * math.ceil(n / block[1]), math.ceil(k / block[2]), split, sms)


def stream_k(block: int, blocks: int, tiles: int, k_tiles: int) -> list[tuple[int, int, int]]:
    """(tile, first, last) of each piece of work of a block of stream-K: the k tiles first … last - 1 of a tile of D."""
    total = tiles * k_tiles
    unit, end, work = total * block // blocks, total * (block + 1) // blocks, []
    while unit < end:
        tile, first = divmod(unit, k_tiles)
        last = min(k_tiles, first + end - unit)
        work.append((tile, first, last))
        unit += last - first
    return work


# ---- What was recorded ----


@dataclass(frozen=True)
class Row:
    """One kernel with m rows of A. Microseconds of a launch, with B from DRAM and with B in L2.

    parts: of K; 0 for a library, which does not say.   rounds: samples of each, in turns with the others of the run.
    sm_clock_mhz, power_w: medians over the run.
    """

    kernel: str
    config: str
    parts: int
    regime: str
    m: int
    n: int
    k: int
    dram_us: float
    l2_us: float
    rounds: int
    sm_clock_mhz: int
    power_w: int
    gpu: str
    cuda: str
    commit: str
    date: str

    @property
    def dram_tb_s(self) -> float:
        """How fast B was read from DRAM: its bytes, once, over the time of the launch."""
        return 2 * self.n * self.k / self.dram_us / 1e6


@dataclass(frozen=True, repr=False)
class Recorded(ShownAsTable):
    """What was recorded with `m` rows of A in one regime: cuBLAS, the best algorithm of cuBLASLt, the rungs."""

    m: int
    rows: tuple[Row, ...] = field(repr=False)

    def of(self, name: str, parts: int | None = None) -> Row:
        """The row of "cublas" or "cublaslt_best", or of a rung such as "02_split_k" with so many parts of K."""
        for row in self.rows:
            if row.kernel.split("/")[-1] == name and parts in (None, row.parts):
                return row
        raise LabError(f"Nothing was recorded of {name}" + (f" with {parts} parts of K." if parts else "."))

    def split(self, parts: int) -> Row:
        return self.of("02_split_k", parts)

    def _table(self) -> Table:
        library = self.of("cublas")
        header = ["kernel", "parts of K", "µs, B from DRAM", "B, TB/s", "× cuBLAS", "µs, B in L2", "× cuBLAS"]
        body = [
            [
                row.kernel, str(row.parts or ""), f"{row.dram_us:.2f}", f"{row.dram_tb_s:.2f}",
                f"{library.dram_us / row.dram_us:.3f}", f"{row.l2_us:.2f}", f"{library.l2_us / row.l2_us:.3f}",
            ]
            for row in self.rows
        ]  # fmt: skip
        return Table(header, body, f"{self.m} × {library.n} × {library.k}, BF16, {conditions(library)}")


def conditions(row: Row) -> str:
    """What has to stand beside the numbers."""
    return (
        f"launches in CUDA graphs, {row.regime}, medians of {row.rounds} rounds in turns, on {row.gpu}, "
        f"{row.sm_clock_mhz:,} MHz, {row.power_w} W, CUDA {row.cuda}, {row.date}, commit {row.commit}"
    )


def recorded(m: int, gpu: str = "h200", regime: str = "sustained") -> Recorded:
    """What was recorded with m rows of A. Raises `LabError` if there is nothing."""
    lines = [line for line in _lines(f"{gpu_of(gpu).key}.csv") if (line["m"], line["regime"]) == (str(m), regime)]
    rows = [typed(Row, line) for line in lines]
    if not rows:
        raise LabError(f"Nothing was recorded with {m} rows of A on {gpu}, {regime}.")
    return Recorded(m, tuple(rows))


def library_kernels(gpu: str = "h200") -> list[tuple[int, str, float]]:
    """(rows of A, name without its parameters, microseconds) of the kernels that cuBLAS launched."""
    lines = _lines(f"{gpu_of(gpu).key}_cublas.csv")
    return [(int(one["m"]), _NAME.sub("", one["kernel"]), float(one["microseconds"])) for one in lines]


_NAME = re.compile(r"^void |<.*|\(.*")


def _lines(name: str) -> list[dict[str, str]]:
    path = data_dir("results") / "decode" / name
    if not path.is_file():
        raise LabError(f"results/decode has no {name}; on such a GPU `python -m tools.recording decode` records it.")
    return read_rows(path)


# ---- Pictures ----


@style.drawn
def plot_work(tiles: int, k_tiles: int, sms: int, split: int) -> Figure:
    """Who multiplies which k tiles, when: whole tiles, tiles cut into `split` parts, and one row of work for all.

    A row is a multiprocessor, a colour is a tile of D, and the width of a bar is its number of k tiles.
    """
    ways = [(f"whole tiles: {tiles} blocks", _in_rounds(tiles, k_tiles, sms, 1))]
    ways.append((f"{split} parts of each: {tiles * split} blocks", _in_rounds(tiles, k_tiles, sms, split)))
    ways.append(("stream-K: one row of work", [stream_k(block, sms, tiles, k_tiles) for block in range(sms)]))
    longest = max(_length(work) for _, way in ways for work in way)
    fig = style.figure(style.WIDTH, 0.75 + len(ways) * (0.62 + 0.22 * sms))
    height = fig.get_figheight()
    for place, (title, way) in enumerate(ways):
        top = 0.5 + place * (0.62 + 0.22 * sms)
        ax = style.axes(fig, left=0.75, right=0.5, top=top, bottom=height - top - 0.22 * sms)
        for sm, work in enumerate(way):
            begin = 0
            for tile, first, last in work:
                ax.barh(
                    sm, last - first, left=begin, height=0.78, color=style.tint(style.GROUPS[tile % 8], 0.55),
                    edgecolor=style.PAPER,
                )  # fmt: skip
                begin += last - first
        ax.axvline(max(map(_length, way)), color=style.INK, linewidth=style.LINE)
        ax.set(xlim=(0, longest + 0.5), ylim=(sms - 0.4, -0.6), yticks=range(sms))
        style.axis_titles(ax, "", f"{title}; the last is done after {max(map(_length, way))} k tiles")
    style.caption(fig, "Rows: multiprocessors. Colours: tiles of D. Across: k tiles, one after the other.", 0.75)
    return fig


def _in_rounds(tiles: int, k_tiles: int, sms: int, split: int) -> list[list[tuple[int, int, int]]]:
    parts = [
        (tile, k_tiles * part // split, k_tiles * (part + 1) // split) for part in range(split) for tile in range(tiles)
    ]
    return [parts[sm::sms] for sm in range(sms)]


def _length(work: list[tuple[int, int, int]]) -> int:
    return sum(last - first for _, first, last in work)


@style.drawn
def plot_splits(found: list[Recorded], dram_tb_s: float) -> Figure:
    """Microseconds over the parts of K, for several numbers of rows, with cuBLAS and the time that B alone needs."""
    fig = style.figure(style.WIDTH, 4.4)
    ax = style.axes(fig, left=0.75, right=2.9, top=0.5, bottom=1.3)
    labels = []
    for one, colour in zip(found, (style.BLUE, style.ORANGE, style.GREEN), strict=False):
        times = [one.split(parts).dram_us for parts in SPLITS]
        ax.plot(range(len(SPLITS)), times, color=colour, marker="o", linewidth=style.LINE)
        labels.append((times[-1], f"{one.m} rows of A", colour))
        library = one.of("cublas").dram_us
        ax.plot([-0.25, len(SPLITS) - 1], [library, library], color=colour, linewidth=style.THIN, linestyle="--")
    first = found[0].rows[0]
    floor = 2 * first.n * first.k / dram_tb_s / 1e6
    ax.axhspan(0, floor, color=style.MEMORY["DRAM"], alpha=0.12, linewidth=0)
    labels.append((floor / 2, "B at the data sheet’s speed", style.MEMORY["DRAM"]))
    ax.set(xlim=(-0.25, len(SPLITS) - 0.8), ylim=(0, None), xticks=range(len(SPLITS)), xticklabels=SPLITS)
    style.axis_titles(ax, "parts of K", "µs, B from DRAM")
    style.labels_right(ax, labels)
    style.caption(fig, "Dashed: cuBLAS in the same run.\n" + conditions(first).replace(", on", ",\non") + ".", 0.75)
    return fig
