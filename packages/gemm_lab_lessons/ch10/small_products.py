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
from gemm_results.results import Measurement
from gpu_simulator.errors import LabError
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


def recorded(m: int, regime: str = "sustained", gpu: str = "h200") -> Recorded:
    """What was recorded with m rows of A. Raises `LabError` if there is nothing."""
    path = data_dir("results") / "decode" / f"{gpu_of(gpu).key}.csv"
    rows = [row for row in results.read(path) if row.m == m and row.regime == regime]
    if not rows:
        raise LabError(f"Nothing was recorded with {m} rows of A, {regime}, on {gpu}.")
    order = {"cublas": 0, "cublaslt_best": 1}
    rows.sort(key=lambda row: (order.get(row.kernel, 2), row.kernel, int(_parts(row) or 0)))
    return Recorded(m, regime, tuple(rows))
