"""The tile and the order of blocks that a sweep on a GPU chose for each size: `results/tuned/<gpu>.csv`.

`python -m tools.recording tiles hopper` records it.
"""

from __future__ import annotations

import csv
from pathlib import Path

from gemm_lab.config import data_dir
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_lab.settings_text import parse_settings
from gpu_simulator.errors import LabError
from gpu_simulator.hardware import data_sheets as hardware

COLUMNS = ("ladder", "n", "rung", "settings")


def path_for(gpu: str, folder: Path | None = None) -> Path:
    """The file of a GPU, given its key or name ("h200", "NVIDIA H200")."""
    return (folder or data_dir("results") / "tuned") / f"{hardware.gpu(gpu).key}.csv"


def choices(ladder: str, gpu: str) -> dict[int, Kernel]:
    """{n: the kernel that the sweep on `gpu` chose for n × n × n}; empty if no sweep of the ladder is recorded."""
    path = path_for(gpu)
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as lines:
        rows = [row for row in csv.DictReader(lines) if row["ladder"] == ladder]
    return {int(row["n"]): kernel(f"{ladder}/{row['rung']}")(**parse_settings(row["settings"].split())) for row in rows}


def chosen(ladder: str, n: int, gpu: str) -> Kernel | None:
    """The kernel that the sweep on `gpu` chose for exactly n × n × n, or None."""
    return choices(ladder, gpu).get(n)


def tuned(ladder: str, n: int, gpu: str) -> Kernel:
    """The kernel that the sweep on `gpu` chose for n × n × n, or for the nearest size that was swept.

    Near is what has the smaller ratio. Raises `LabError` if no sweep of the ladder is recorded for the GPU.
    """
    found = choices(ladder, gpu)
    if not found:
        raise LabError(
            f"No sweep over the tiles of {ladder} is recorded for {hardware.gpu(gpu).name}; on such a GPU "
            f"`python -m tools.recording tiles {ladder}` records one."
        )
    return found[min(found, key=lambda swept: max(n / swept, swept / n))]
