"""The tile and the order of blocks that a sweep on a GPU chose for each size: `results/tuned/<gpu>.csv`.

`python -m tools.recording tiles hopper` records it. Of the recorded speeds, it and the default settings are current.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gemm_lab import catalog
from gemm_lab.config import data_dir
from gemm_lab.lab.kernel import Kernel
from gemm_lab.source_text import parse_settings
from gemm_results.errors import LabError
from gemm_results.profile import read_rows
from gemm_results.results import Measurement
from gpu_simulator.hardware import data_sheets as hardware

COLUMNS = ("ladder", "n", "rung", "settings")


def path_for(gpu: str, folder: Path | None = None) -> Path:
    """The file of a GPU, given its key or name ("h200", "NVIDIA H200")."""
    return (folder or data_dir("results") / "tuned") / f"{hardware.gpu(gpu).key}.csv"


def choices(ladder: str, gpu: str) -> dict[int, Kernel]:
    """{n: the kernel that the sweep on `gpu` chose for n × n × n}; empty if no sweep of the ladder is recorded."""
    rows = [row for row in read_rows(path_for(gpu)) if row["ladder"] == ladder]
    found, key = {}, hardware.gpu(gpu).key
    for row in rows:
        spec = catalog.kernel(f"{ladder}/{row['rung']}")
        config = spec.configure(key, **parse_settings(row["settings"].split()))
        found[int(row["n"])] = Kernel(spec, config, tuned_for=key)
    return found


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


def current(rows: Iterable[Measurement], gpu: str | None) -> tuple[list[Measurement], list[Measurement]]:
    """(rows of rungs with their own settings for a GPU, and of baselines; rows of what a sweep chose for their size).

    gpu: its key, such as "h200"; None for a GPU without a data sheet. A choice that is the rung's own setting is in
    both lists. A row with other settings, such as one that a rung had once, is in neither.
    """
    own: list[Measurement] = []
    swept: list[Measurement] = []
    known: dict[str, dict[int, Kernel]] = {}
    for row in rows:
        spec = catalog.kernels().get(row.kernel)
        settings = parse_settings(row.config.split()) if spec else {}
        if spec is None or settings == spec.configure(gpu):
            own.append(row)
        if spec is None or gpu is None or not row.m == row.n == row.k:
            continue
        if spec.ladder not in known:
            known[spec.ladder] = choices(spec.ladder, gpu)
        best = known[spec.ladder].get(row.n)
        if best is not None and (best.name, best.config) == (spec.name, settings):
            swept.append(row)
    return own, swept
