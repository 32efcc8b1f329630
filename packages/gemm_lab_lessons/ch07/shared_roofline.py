"""Compares the time of two units of a multiprocessor: wavefronts of shared memory and cycles of the tensor cores.

from gemm_lab_lessons.ch07.shared_roofline import shared_roofline
shared_roofline("ampere/02", "ampere/04")
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from functools import lru_cache

from gemm_lab.config import data_dir
from gemm_lab.lab import Kernel, kernel
from gemm_lab.lab.on_simulator import check_on_simulator
from gemm_look.card import card
from gemm_look.table import Table
from gemm_results.recorded_cards import ProfileCard, read_cards
from gpu_simulator.argument_checks import checked
from gpu_simulator.hardware.data_sheets import gpu

K_STEP, N = 32, 512  # the step along K that a row counts, and the size of the runs
MMA = 16 * 8 * 16  # multiply-adds of mma.m16n8k16
GPUS = ("a100", "rtx5090", "h200")


@lru_cache(maxsize=len(GPUS))
@checked
def cycles_per_mma(name: str) -> float | None:
    """The cycles for which the tensor core of one warp scheduler is busy with one BF16 mma.m16n8k16 with FP32 sums.

    The number comes from the data sheet: peak ÷ multiprocessors ÷ schedulers ÷ boost clock. The H200's peak is only
    reached with wgmma, so there it is the median of the recorded cards of the ampere ladder; None if there are none.
    """
    target = gpu(name)
    if name == "h200":
        found = [
            cycles_in(card)
            for card in read_cards(data_dir("results") / "profiles" / name)
            if card.kernel.startswith("ampere/")
        ]
        return statistics.median(found) if found else None
    flop_per_cycle = target.peak("bf16", "f32") * 1e12 / target.sms / target.warp_schedulers / (target.boost_mhz * 1e6)
    return 2 * MMA / flop_per_cycle


def cycles_in(card: ProfileCard) -> float:
    """The cycles of the tensor core for one mma, from a recorded card.

    The card has two percentages of the same active cycles: in the pipe's, each mma counts with its cycles, and in that
    of the issue slots, each instruction counts with one cycle.
    """
    return card["tensor_pipe_pct"] / card["issue_slots_pct"] * card.instructions / card.classes["tensor core"]


@dataclass(frozen=True)
class PipeRow:
    """The work of one block of a kernel in a step of 32 along K.

    `ldmatrix` and `copies` are wavefronts; `tensor` has the cycles of a tensor core by GPU, None if they are unknown.
    """

    label: str
    ldmatrix: float
    copies: float
    tensor: dict[str, float | None]

    @property
    def wavefronts(self) -> float:
        return self.ldmatrix + self.copies

    def bound(self, name: str) -> float | None:
        """The largest fraction of the tensor cores' rate that shared memory allows, at one wavefront per cycle."""
        cycles = self.tensor[name]
        return None if cycles is None else min(1.0, cycles / self.wavefronts)


class SharedRoofline:
    """A table of wavefronts and cycles; `rows` has a `PipeRow` for each kernel."""

    def __init__(self, rows: list[PipeRow]):
        self.rows = rows

    def _table(self) -> list[list[str]]:

        def tensor(row: PipeRow, name: str, cycles: float | None) -> str:
            return "not recorded" if cycles is None else f"{cycles:,.0f} ({row.bound(name):.0%})"

        cells = []
        for row in self.rows:
            counts = (f"{count:,.0f}" for count in (row.ldmatrix, row.copies, row.wavefronts))
            cells.append([row.label, *counts, *(tensor(row, *one) for one in row.tensor.items())])
        return cells

    def __repr__(self) -> str:
        wide = max(len(row.label) for row in self.rows)
        head = f"{'':{wide}} {'ldmatrix':>9} {'copies':>8} {'together':>9}" + "".join(f"{name:>15}" for name in GPUS)
        lines = [
            f"{a:{wide}} {b:>9} {c:>8} {d:>9}" + "".join(f"{text:>15}" for text in rest)
            for a, b, c, d, *rest in self._table()
        ]
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        header = ["kernel", "ldmatrix", "copies", "wavefronts", *(gpu(name).name for name in GPUS)]
        caption = (
            f"A block in a step of {K_STEP} along K, counted on the simulator. Right: cycles of the tensor cores "
            "for the same step, and in brackets the share of their rate that shared memory allows, at one "
            "wavefront a cycle. A100 and RTX 5090 from data sheets, H200 from recorded profile cards."
        )
        return card(Table(header, self._table(), caption).html())


@checked
def shared_roofline(*kernels: str | Kernel) -> SharedRoofline:
    """Run kernels (or names) on the simulator and compare their wavefronts with the cycles of their products.

    The wavefronts are those of ldmatrix and of the instructions that fill the tiles: cp.async or 16-byte stores. Other
    accesses to shared memory, such as those of an epilogue, are not counted.
    """
    rows = []
    for made in (kernel(item) if isinstance(item, str) else item for item in kernels):
        report = check_on_simulator(made, made.compile(), N, N, N)[1]
        block_m, block_n = made.block
        steps = (N // block_m) * (N // block_n) * (N // K_STEP)
        ldmatrix, copies = (
            sum(site.wavefronts for site in report.sites if site.opcode.startswith(names)) / steps
            for names in (("ldmatrix",), ("cp.async", "st.shared.v4"))
        )
        mmas = block_m * block_n * K_STEP / MMA / 4  # for each of the four tensor cores
        tensor = {name: (each := cycles_per_mma(name)) and mmas * each for name in GPUS}
        rows.append(PipeRow(made.label, ldmatrix, copies, tensor))
    return SharedRoofline(rows)
