"""Products with few rows of A: how the work is shared out, and what was recorded in results/decode.

`python -m tools.recording decode` records it. B comes from DRAM there: the copies of the inputs are more than L2 holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from matplotlib.figure import Figure

from gemm_lab.config import data_dir
from gemm_look import style
from gemm_look.table import ShownAsTable, Table
from gemm_results import results
from gemm_results.errors import LabError
from gemm_results.results import Measurement
from gpu_simulator.hardware.data_sheets import gpu as gpu_of

EDGE = 4096  # N and K of what was recorded
SPLITS = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Shares:
    """The work of a product on `sms` multiprocessors that take one block each: whole tiles, each cut in `split` parts.

    A unit of work is one k tile of one tile of D.
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


def microseconds(row: Measurement) -> float:
    """The time of one launch."""
    return 2 * row.m * row.n * row.k / row.tflops / 1e6


def terabytes_per_s(row: Measurement) -> float:
    """How fast B was read: its bytes, once, over the time of the launch."""
    return 2 * row.n * row.k / microseconds(row) / 1e6


@dataclass(frozen=True)
class Recorded(ShownAsTable):
    """The recorded launches with `m` rows of A in one regime, cuBLAS first."""

    m: int
    regime: str
    rows: tuple[Measurement, ...] = field(repr=False)

    def split(self, parts: int) -> Measurement:
        """The row of split-K with so many parts, of one part the kernel with one tile a block."""
        for row in self.rows:
            if parts == 1 and row.kernel == "decode/01_one_tile":
                return row
            if row.kernel == "decode/02_split_k" and f"SPLIT={parts} " in f"{row.config} ":
                return row
        raise LabError(f"Nothing was recorded with {parts} parts of K.")

    def of(self, name: str) -> Measurement:
        """The row of a baseline such as "cublas", or of a rung such as "03_cluster"."""
        for row in self.rows:
            if row.kernel.split("/")[-1] == name:
                return row
        raise LabError(f"There is no row of {name}; there are {', '.join(sorted({row.kernel for row in self.rows}))}.")

    @property
    def best(self) -> Measurement:
        """The fastest row of the ladder."""
        return min((row for row in self.rows if row.kernel.startswith("decode/")), key=microseconds)

    def _table(self) -> Table:
        header = ["kernel", "parts of K", "µs", "B, TB/s", "× cuBLAS", "× cuBLASLt’s best"]
        body = [
            [
                row.kernel, _parts(row), f"{microseconds(row):.2f}", f"{terabytes_per_s(row):.2f}",
                f"{row.ratio_cublas:.3f}" if row.ratio_cublas else "",
                f"{row.ratio_cublaslt:.3f}" if row.ratio_cublaslt else "",
            ]
            for row in self.rows
        ]  # fmt: skip
        first = self.rows[0]
        caption = (
            f"{self.m} × {first.n} × {first.k}, BF16, {self.regime}, median of {first.rounds} rounds in turns, B from "
            f"DRAM, on {first.gpu}, driver {first.driver}, CUDA {first.cuda}, {first.date}, commit {first.commit}"
        )
        return Table(header, body, caption)


def _parts(row: Measurement) -> str:
    settings = dict(pair.split("=") for pair in row.config.split() if "=" in pair)
    return settings.get("SPLIT", "1") if row.kernel.startswith("decode/") else ""


def recorded(m: int, regime: str = "sustained", gpu: str = "h200", k: int = EDGE) -> Recorded:
    """What was recorded with m rows of A and this K. Raises `LabError` if there is nothing."""
    path = data_dir("results") / "decode" / f"{gpu_of(gpu).key}.csv"
    rows = [row for row in results.read(path) if (row.m, row.k, row.regime) == (m, k, regime)]
    if not rows:
        raise LabError(f"Nothing was recorded with {m} rows of A and K = {k}, {regime}, on {gpu}.")
    order = {"cublas": 0, "cublaslt_best": 1}
    rows.sort(key=lambda row: (order.get(row.kernel, 2), row.kernel, int(_parts(row) or 0)))
    return Recorded(m, regime, tuple(rows))


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
    fig = style.figure(style.WIDTH, 4.0)
    ax = style.axes(fig, left=0.75, right=2.4, top=0.5, bottom=0.95)
    labels = []
    for one, colour in zip(found, (style.BLUE, style.ORANGE, style.GREEN), strict=False):
        times = [microseconds(one.split(parts)) for parts in SPLITS]
        ax.plot(range(len(SPLITS)), times, color=colour, marker="o", linewidth=style.LINE)
        labels.append((times[-1], f"{one.m} rows of A", colour))
        library = microseconds(one.of("cublas"))
        ax.plot([-0.25, len(SPLITS) - 1], [library, library], color=colour, linewidth=style.THIN, linestyle="--")
    floor = 2 * EDGE * EDGE / dram_tb_s / 1e6
    ax.axhspan(0, floor, color=style.MEMORY["DRAM"], alpha=0.12, linewidth=0)
    labels.append((floor / 2, "reading B at the data sheet’s speed", style.MEMORY["DRAM"]))
    ax.set(xlim=(-0.25, len(SPLITS) - 0.8), ylim=(0, None), xticks=range(len(SPLITS)), xticklabels=SPLITS)
    style.axis_titles(ax, "parts of K", "µs")
    style.labels_right(ax, labels)
    first = found[0].rows[0]
    style.caption(fig, f"Dashed: cuBLAS in the same run. {found[0].regime}, on {first.gpu}, {first.date}.", 0.75)
    return fig
