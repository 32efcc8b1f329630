"""`python -m tools.recording tiles hopper`: which tile and which order of blocks is fastest at each size on this GPU.

The candidates are the configurations of the ladder's last source, each with every height of a band. All take turns
with cuBLAS in one run for each size and regime. The one that is chosen has the largest share of the best that cuBLASLt
offers in the regime where its share is smaller. Its figures are picked after the fact, so results/tuned has no speeds:
`python -m tools.recording speeds` measures the choice anew.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

from gemm_lab.lab import Kernel, Ladder
from gemm_lab.lab.here import Here
from gemm_lab.lab.measuring import benchmark_kernels
from gemm_lab.lab.tuning import COLUMNS, path_for
from gpu_simulator.errors import LabError

BANDS = (4, 6, 7, 8, 9, 11, 12, 16)
REGIMES = ("sustained", "burst")


def candidates(ladder: Ladder) -> list[Kernel]:
    """The configurations of the ladder's last source with each height of a band."""
    last = ladder.spec.kernels[-1].path
    return [kernel(GROUP_M=band) for kernel in ladder if kernel.spec.path == last for band in BANDS]


def best(shares: dict[str, dict[str, float]]) -> str:
    """The label whose smaller share is the largest. shares: {label: {regime: share of cublaslt_best}}."""
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
    path, tried = path_for(where.present.gpu.key, into), {kernel.label: kernel for kernel in candidates(ladder)}
    for n in sizes:
        shares: dict[str, dict[str, float]] = {label: {} for label in tried}
        for regime in REGIMES:
            found = benchmark_kernels(
                tried.values(),
                [n],
                baselines=("cublas", "cublaslt_best"),
                ceiling=None,
                regime=regime,
                rounds=rounds,
                progress=False,
            )
            for row in found:
                if row.kernel in shares and row.ratio_cublaslt:
                    shares[row.kernel][regime] = row.ratio_cublaslt
            top = sorted(shares, key=lambda label: -shares[label].get(regime, 0))[:5]
            say(f"{n}, {regime}: " + "; ".join(f"{label} {shares[label][regime]:.3f}" for label in top))
        label = best({label: found for label, found in shares.items() if len(found) == len(REGIMES)})
        say(f"{n}: {label}, " + ", ".join(f"{regime} {share:.3f}" for regime, share in shares[label].items()))
        kernel = tried[label]
        _keep(path, [ladder.name, n, kernel.name.split("/")[1], f"GROUP_M={kernel.config['GROUP_M']}"])
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
