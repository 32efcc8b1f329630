"""Compares the wavefronts of whole kernels as counted by the simulator with those that Nsight Compute recorded.

from gemm_lab_lessons.ch04.kernel_counts import kernel_counts
kernel_counts("t4/02", "t4/03")
"""

from __future__ import annotations

from dataclasses import dataclass

from gemm_lab.config import data_dir
from gemm_lab.lab import kernel
from gemm_lab.lab.on_simulator import check_on_simulator
from gemm_lab_lessons.shared.three_counts import ARCH, GPU, METRIC, source
from gemm_look import theme
from gemm_look.card import card, mark
from gemm_look.table import Table
from gemm_results.profile import PROFILED_N, read_rows
from gpu_simulator.argument_checks import checked
from gpu_simulator.hardware.banks import conflict_degree


@dataclass(frozen=True)
class KernelCount:
    """The shared-memory wavefronts of one launch. shared_bytes: shared memory of a block.

    ideal: the wavefronts without bank conflicts. hardware: None if the kernel was not recorded.
    """

    kernel: str
    shared_bytes: int
    ideal: int
    simulator: int
    hardware: int | None

    @property
    def degree(self) -> float | None:
        return conflict_degree(self.simulator, self.ideal)


class KernelCounts:
    """A table of wavefronts; `rows` has a `KernelCount` for each kernel."""

    def __init__(self, rows: list[KernelCount], n: int):
        self.rows, self.n = rows, n

    def _table(self) -> list[list[str]]:
        cells = []
        for row in self.rows:
            degree = "–" if row.degree is None else f"{row.degree:.2f}"
            recorded = "not recorded" if row.hardware is None else f"{row.hardware:,}"
            counts = (f"{row.shared_bytes:,}", f"{row.ideal:,}", degree, f"{row.simulator:,}")
            cells.append([row.kernel, *counts, recorded])
        return cells

    def __repr__(self) -> str:
        head = f"{'kernel':28} {'bytes':>8} {'ideal':>9} {'degree':>7} {'simulator':>10} {'hardware':>13}"
        rows = (f"{a:28} {b:>8} {c:>9} {d:>7} {e:>10} {f:>13}" for a, b, c, d, e, f in self._table())
        return "\n".join([head, *rows])

    def _repr_html_(self) -> str:
        name = source().split(",")[0]
        header = ["kernel", "bytes of shared memory", "ideal wavefronts", "times the ideal", "simulator", name]
        caption = f"Wavefronts of one launch at {self.n} × {self.n} × {self.n}."
        if any(row.hardware is not None for row in self.rows):
            caption += f" Recorded: {METRIC}, {source()}."
        wrong = any(row.hardware not in (None, row.simulator) for row in self.rows)
        verdict = f"{mark(not wrong)} {'A count differs' if wrong else 'No count differs'} from a recorded one."
        table = Table(header, self._table(), caption).html()
        return card(verdict + table, theme.BAD if wrong else theme.GOOD)


@checked
def kernel_counts(*names: str) -> KernelCounts:
    """Run kernels on the simulator at the size of the recordings (512), compiled for the GPU of the recordings."""
    rungs = read_rows(data_dir("results") / "profiles" / GPU / "rungs.csv")
    recorded = {row["kernel"]: int(row["wavefronts"]) for row in rungs if row["n"] == str(PROFILED_N)}
    rows = []
    for name in names:
        made = kernel(name)
        compiled = made.compile(ARCH)
        total = check_on_simulator(made, compiled, PROFILED_N, PROFILED_N, PROFILED_N)[1].totals
        counts = total.ideal_wavefronts, total.wavefronts, recorded.get(made.name)
        rows.append(KernelCount(made.name, compiled.smem, *counts))
    return KernelCounts(rows, PROFILED_N)
