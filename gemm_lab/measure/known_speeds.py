"""How far predicted speeds were from those in a burst, on the same GPU and of the same ladder.

A burst is a few launches after a pause, so that the clock is high. The rungs were recorded so (`results/measured`), and
`results/predicted/bursts.csv` has what the model says of them; their authors knew these speeds. A blind trial is one
launch under Nsight Compute, predicted before it was recorded. The errors are computed here, and nowhere written down.
"""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_lab.source_text import parse_settings
from gemm_results import blind_trials, results
from gemm_results.profile import read_rows
from gemm_results.published_trials import Summary, summary
from gemm_results.results import Measurement
from gpu_simulator.hardware import data_sheets
from gpu_timing.cycles.constants_file import constants

BURSTS = "bursts.csv"


@dataclass(frozen=True)
class Known:
    """A speed that was both predicted and recorded. error: predicted over recorded TFLOPS, less 1."""

    kernel: str
    n: int
    error: float


def burst(gpu: str, kernel: str, config: dict[str, int], m: int, n: int, k: int) -> Measurement | None:
    """The recorded burst of a rung with these settings on a GPU, given its key; None if there is none."""
    for row in results.recorded(gpu):
        alike = (row.kernel, row.regime, row.m, row.n, row.k) == (kernel, "burst", m, n, k)
        if alike and parse_settings(row.config.split()) == config:
            return row
    return None


def known_speeds(gpu: str, ladder: str) -> list[Known]:
    """All of a GPU, given its key, and a ladder."""
    recorded = {(row.kernel, row.config, row.n): row.tflops for row in results.recorded(gpu) if row.regime == "burst"}
    found = []
    for row in read_rows(data_dir("results") / "predicted" / BURSTS):
        kernel, n = row["kernel"], int(row["n"])
        speed = recorded.get((kernel, row["config"], n))
        if row["gpu"] == gpu and kernel.split("/")[0] == ladder and row["tflops"] and speed:
            found.append(Known(kernel, n, float(row["tflops"]) / speed - 1))
    for one in blind_trials.trials():
        if one.family == ladder and data_sheets.gpu(one.gpu).key == gpu and one.seconds:
            predicted = one.predicted / (1e6 * constants(gpu)[f"clock_{_kind(ladder)}_mhz"])
            found.append(Known(one.kernel, one.n, one.seconds / predicted - 1))
    return found


def spread(gpu: str, ladder: str) -> Summary | None:
    """The summary of the errors; None without any."""
    return summary(known_speeds(gpu, ladder))


def _kind(ladder: str) -> str:
    """Which clock of the time model a ladder runs at."""
    spec = catalog.ladder(ladder)
    on_hopper = all(arch == "sm_90a" for rung in spec.kernels for arch in rung.targets)
    return "wgmma" if on_hopper else "fp32" if spec.problem.multiplied == "f32" else "mma"
