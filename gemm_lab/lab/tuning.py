"""The tile and the order of blocks that a sweep on a GPU chose for each size: `results/tuned/<gpu>.csv`.

`python -m tools.recording tiles hopper` records it.
"""

from __future__ import annotations

from pathlib import Path

from gemm_lab.config import data_dir
from gemm_lab.lab.kernel import Kernel, kernel
from gemm_lab.settings_text import parse_settings
from gemm_results.profile import read_rows
from gpu_simulator.errors import LabError
from gpu_simulator.hardware import data_sheets as hardware

COLUMNS = ("ladder", "n", "rung", "settings")


def path_for(gpu: str, folder: Path | None = None) -> Path:
    """The file of a GPU, given its key or name ("h200", "NVIDIA H200")."""
    return (folder or data_dir("results") / "tuned") / f"{hardware.gpu(gpu).key}.csv"


def tuned(ladder: str, n: int, gpu: str) -> Kernel:
    """The kernel that the sweep on `gpu` chose for n × n × n, or for the nearest size that was swept.

    Near is what has the smaller ratio. Raises `LabError` if no sweep of the ladder is recorded for the GPU.
    """
    rows = [row for row in read_rows(path_for(gpu)) if row["ladder"] == ladder]
    if not rows:
        raise LabError(
            f"No sweep over the tiles of {ladder} is recorded for {hardware.gpu(gpu).name}; on such a GPU "
            f"`python -m tools.recording tiles {ladder}` records one."
        )
    near = min(rows, key=lambda row: max(n / int(row["n"]), int(row["n"]) / n))
    return kernel(f"{ladder}/{near['rung']}")(**parse_settings(near["settings"].split()))
