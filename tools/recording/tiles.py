"""`python -m tools.recording tiles hopper`: which tile and which order of blocks is fastest at each size on this GPU.

The candidates are the configurations of the ladder's last source, or those of `TILES`, each with every height of a
band. All take turns with cuBLAS in one sustained run for each size; the best of them take turns in bursts. The one that
is chosen has the largest share of cuBLAS (of the best that cuBLASLt offers, for a ladder without `TILES`) in the regime
where its share is smaller. Its figures are picked after the fact, so results/tuned has no speeds: `python -m
tools.recording speeds` measures the choice anew.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from gemm_lab.lab import Kernel, Ladder, kernel
from gemm_lab.lab.here import Here
from gemm_lab.lab.measuring import benchmark_kernels
from gemm_lab.lab.tuning import COLUMNS, path_for
from gemm_lab.measure.benchmark import best_library
from gemm_results.errors import LabError
from gpu_simulator.errors import SizeError

BANDS = (4, 6, 7, 8, 9, 11, 12, 16)
REGIMES = ("sustained", "burst")
KEPT = 6  # candidates that take part in bursts, in which a sample takes longer because of its pause
MOST_ROUNDS = 128  # a tile so small that each multiprocessor computes more of them reads too much, and is not tried


class Tiles(NamedTuple):
    """The candidates of a ladder. rungs: their names. bands: heights, () for a source that has no order of blocks.

    tiles: (BLOCK_M, BLOCK_N, BLOCK_K, NUM_WARPS_M, NUM_WARPS_N, NUM_STAGES), without the last for a source of two.
    """

    rungs: tuple[str, ...]
    bands: tuple[int, ...]
    tiles: tuple[tuple[int, ...], ...]


NAMES = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "NUM_WARPS_M", "NUM_WARPS_N", "NUM_STAGES")
TILES = {
    "t4": Tiles(
        ("08_pipelined_fragments",),
        (),
        (
            (256, 256, 32, 4, 2),
            (256, 256, 32, 4, 4),
            (256, 128, 32, 4, 2),
            (256, 128, 32, 8, 2),
            (128, 256, 32, 2, 4),
            (128, 256, 32, 4, 2),
            (128, 128, 32, 2, 2),
            (128, 128, 32, 4, 2),
            (256, 64, 32, 4, 1),
            (256, 64, 32, 8, 1),
            (64, 256, 32, 2, 4),
            (128, 64, 32, 2, 1),
            (128, 64, 32, 4, 1),
            (64, 128, 32, 2, 2),
            (64, 64, 32, 2, 1),
        ),
    ),
    "ampere": Tiles(
        ("10_steady_addresses",),
        (8, 16),
        (
            (128, 256, 32, 2, 4, 4),
            (128, 256, 64, 2, 4, 3),
            (256, 128, 32, 4, 2, 4),
            (256, 128, 64, 4, 2, 3),
            (128, 128, 64, 2, 2, 3),
            (128, 128, 32, 2, 2, 4),
            (128, 128, 32, 2, 2, 5),
            (64, 256, 64, 1, 4, 3),
            (256, 64, 64, 4, 1, 3),
            (64, 128, 64, 2, 2, 4),
            (64, 128, 64, 1, 2, 4),
            (64, 128, 64, 4, 2, 4),
            (128, 64, 64, 4, 1, 4),
            (128, 64, 64, 2, 1, 4),
            (64, 64, 64, 2, 1, 5),
            (64, 64, 64, 4, 1, 5),
        ),
    ),
    "rtx5090": Tiles(
        ("02_producer_warp", "03_persistent"),
        (8, 16),
        (
            (128, 256, 32, 2, 4, 4),
            (128, 256, 64, 2, 4, 3),
            (128, 256, 64, 2, 4, 4),
            (256, 128, 64, 4, 2, 3),
            (128, 128, 64, 2, 2, 3),
            (128, 128, 64, 4, 2, 4),
            (128, 64, 64, 4, 1, 4),
            (64, 128, 64, 2, 2, 4),
            (64, 128, 64, 4, 2, 4),
            (64, 64, 64, 4, 1, 6),
        ),
    ),
}


def candidates(ladder: Ladder) -> list[Kernel]:
    """The candidates of the ladder in `TILES`, or the configurations of its last source with each height of a band."""
    asked = TILES.get(ladder.name)
    if asked is None:
        last = ladder.spec.kernels[-1].path
        return [rung(GROUP_M=band) for rung in ladder if rung.spec.path == last for band in BANDS]
    every = [dict(zip(NAMES, tile, strict=False)) for tile in asked.tiles]
    if asked.bands:
        every = [tile | {"GROUP_M": band} for tile in every for band in asked.bands]
    return [kernel(f"{ladder.name}/{rung}")(**settings) for rung in asked.rungs for settings in every]


def fits(made: Kernel, n: int, sms: int) -> bool:
    """Whether the kernel multiplies n × n × n, and its tile is not much too small for it."""
    try:
        made.spec.require_size(made.config, n, n, n)
    except SizeError:
        return False
    block_m, block_n = made.block or (n, n)
    return n * n <= block_m * block_n * sms * MOST_ROUNDS


def best(shares: dict[str, dict[str, float]]) -> str:
    """The label whose smaller share is the largest. shares: {label: {regime: share of the baseline}}."""
    return max(shares, key=lambda label: min(shares[label].values()))


def record_tiles(
    where: Here,
    ladder: Ladder,
    sizes: Iterable[int],
    rounds: int | None = None,
    into: Path | None = None,
    say: Callable[[str], None] = print,
) -> Path:
    """Sweep the candidates at each size and write the choices; returns the file. Raises `LabError` without a GPU."""
    if not where.usable or not where.present.gpu:
        raise LabError(f"Nothing can be measured here: {where.reason}")
    base = "cublas" if ladder.name in TILES else best_library(ladder.spec.kernels[-1].problem)
    path, tried = path_for(where.present.gpu.key, into), {made.label: made for made in candidates(ladder)}
    for n in sizes:
        left = {label: made for label, made in tried.items() if fits(made, n, where.present.sms)}
        shares: dict[str, dict[str, float]] = {label: {} for label in left}
        for regime in REGIMES:
            found = benchmark_kernels(
                left.values(),
                [n],
                baselines=(base,),
                ceiling=None,
                regime=regime,
                rounds=rounds,
                progress=False,
            )
            for row in found:
                share = row.ratio_cublas if base == "cublas" else row.ratio_cublaslt
                if row.kernel in shares and share:
                    shares[row.kernel][regime] = share
            top = sorted(left, key=lambda label: -shares[label].get(regime, 0))[:KEPT]
            say(f"{n}, {regime}: " + "; ".join(f"{label} {shares[label].get(regime, 0):.3f}" for label in top))
            for why in sorted(set(found.skipped.values())):
                say(f"{n}, {regime}, not timed: {why}")
            left = {label: tried[label] for label in top}
        label = best({label: found for label, found in shares.items() if len(found) == len(REGIMES)})
        say(f"{n}: {label}, " + ", ".join(f"{regime} {share:.3f}" for regime, share in shares[label].items()))
        chosen = tried[label]
        names = chosen.config if ladder.name in TILES else ("GROUP_M",)
        settings = " ".join(f"{name}={chosen.config[name]}" for name in names)
        _keep(path, [ladder.name, n, chosen.name.split("/")[1], settings])
    return path


def _keep(path: Path, chosen: list) -> None:
    """Write one choice into the file, in the place of an earlier one."""
    kept = []
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as lines:
            kept = [list(row.values()) for row in csv.DictReader(lines)]
    kept = [row for row in kept if (row[0], int(row[1])) != (chosen[0], chosen[1])]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([COLUMNS, *sorted([*kept, chosen], key=lambda row: (row[0], int(row[1])))])
