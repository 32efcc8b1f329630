"""Two recorded counts of a kernel's wavefronts: by instruction, and in the pipe through which all of them pass.

from gemm_lab_lessons.ch06.pipe_counts import pipe_counts
pipe_counts("t4/02", "t4/03", "t4/04")
"""

from __future__ import annotations

from gemm_lab.config import data_dir
from gemm_lab.lab import kernel
from gemm_lab_lessons.shared.speed_tables import SpeedTable
from gemm_look.table import Table
from gemm_results.profile import METRICS, PROFILED_N, read_rows

GPU = "h200"
HEADER = ["kernel", "least", "by instruction", "conflicts of the layout", "in the pipe", "more than by instruction"]


def pipe_counts(*names: str) -> SpeedTable:
    """The recorded wavefronts of one launch of each kernel at 512 × 512 × 512, counted in both ways.

    Raises `KeyError` for a kernel that is not recorded. A cp.async is not counted in the pipe, so kernels with
    one have fewer there.
    """
    recorded = {row["kernel"]: row for row in read_rows(data_dir("results") / "profiles" / GPU / "rungs.csv")}
    rows = []
    for row in (recorded[kernel(name).name] for name in names):
        least, own, pipe = (int(row[key]) for key in ("ideal_wavefronts", "wavefronts", "hardware_wavefronts"))
        rows.append([row["kernel"], *(f"{n:,}" for n in (least, own, own - least, pipe)), f"{(pipe - own) / own:+.2%}"])
    caption = (
        f"Recorded with Nsight Compute on an {GPU.upper()}, {PROFILED_N} × {PROFILED_N} × {PROFILED_N}. By "
        f"instruction: {METRICS['wavefronts']}; in the pipe: {METRICS['hardware_wavefronts']}."
    )
    return SpeedTable(Table(HEADER, rows, caption))
