"""Two pipes of one multiprocessor: the wavefronts of shared memory beside the cycles of the tensor cores.

    from gemm_lab.notebook.shared_roofline import shared_roofline
    shared_roofline("ampere/02", "ampere/04")
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from gemm_lab.api import Kernel, html, kernel
from gemm_lab.api.emulating import check_on_emulator
from gemm_lab.hardware import gpu
from gemm_lab.measure.results import recorded

K_STEP, N = 32, 512  # what a row is counted for, and the size of the runs
CEILING = "ceilings/mma_m16n8k16_bf16"
GPUS = ("a100", "rtx5090", "h200")


def flop_per_cycle(name: str) -> float | None:
    """BF16 multiply-adds with FP32 sums of one multiprocessor a cycle, times two, through mma.sync.

    Data sheet: peak ÷ multiprocessors ÷ boost clock. The H200's peak belongs to wgmma; for its mma.sync the recorded
    register-only loop counts, at the clock of its run. None while that is not recorded.
    """
    target = gpu(name)
    if name != "h200":
        return target.peak("bf16", "f32") * 1e12 / target.sms / (target.boost_mhz * 1e6)
    rows = [row for row in recorded(name) if row.kernel == CEILING and row.regime == "burst"]
    if not rows:
        return None
    best = max(rows, key=lambda row: row.tflops)
    return best.tflops * 1e12 / target.sms / (best.sm_clock_mhz * 1e6)


@dataclass(frozen=True)
class PipeRow:
    """One kernel: what one block does in a step of 32 along K. `tensor` has cycles by GPU."""

    label: str
    ldmatrix: float
    copies: float
    tensor: dict[str, float | None]

    @property
    def wavefronts(self) -> float:
        return self.ldmatrix + self.copies

    def bound(self, name: str) -> float | None:
        """The share of the tensor cores' rate that shared memory allows at most."""
        cycles = self.tensor[name]
        return None if cycles is None else min(1.0, cycles / self.wavefronts)


class SharedRoofline:
    """Shows itself as a table; `rows` holds a `PipeRow` for each kernel."""

    def __init__(self, rows: list[PipeRow]):
        self.rows = rows

    def _table(self) -> list[list[str]]:
        return [[row.label, f"{row.ldmatrix:,.0f}", f"{row.copies:,.0f}", f"{row.wavefronts:,.0f}",
                 *("not recorded" if cycles is None else f"{cycles:,.0f} ({row.bound(name):.0%})"
                   for name, cycles in row.tensor.items())] for row in self.rows]

    def __repr__(self) -> str:
        wide = max(len(row.label) for row in self.rows)
        head = f"{'':{wide}} {'ldmatrix':>9} {'copies':>8} {'together':>9}" + "".join(f"{name:>15}" for name in GPUS)
        lines = [f"{a:{wide}} {b:>9} {c:>8} {d:>9}" + "".join(f"{text:>15}" for text in rest)
                 for a, b, c, d, *rest in self._table()]
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        header = ["kernel", "ldmatrix", "copies", "wavefronts", *(gpu(name).name for name in GPUS)]
        caption = (f"A block in a step of {K_STEP} along K, counted on the emulator. Right: cycles of the tensor cores for the "
                   "same step, and in brackets the share of their rate that shared memory allows, at one wavefront a "
                   "cycle. A100 and RTX 5090 from data sheets, H200 from its recorded ceiling.")
        return html.card(html.table(header, self._table(), escape(caption)))


def shared_roofline(*kernels: str | Kernel) -> SharedRoofline:
    """Run kernels (or names) on the emulator and set their wavefronts beside the cycles of their products.

    Counted are ldmatrix and what fills the tiles, cp.async or 16-byte stores; a detour of the epilogue is not.
    """
    rows = []
    for made in (kernel(item) if isinstance(item, str) else item for item in kernels):
        report = check_on_emulator(made, made.compile(), N, N, N)[1]
        block_m, block_n = made.block
        steps = (N // block_m) * (N // block_n) * (N // K_STEP)
        ldmatrix, copies = (sum(site.wavefronts for site in report.sites if site.opcode.startswith(names)) / steps
                            for names in (("ldmatrix",), ("cp.async", "st.shared.v4")))
        rates = {name: flop_per_cycle(name) for name in GPUS}
        tensor = {name: rate and 2 * block_m * block_n * K_STEP / rate for name, rate in rates.items()}
        rows.append(PipeRow(made.label, ldmatrix, copies, tensor))
    return SharedRoofline(rows)
