"""`generations("t4/08", "hopper/08", …)`: kernels of several generations counted alike, on the emulator.

What is counted is the PTX that a warp executes and the wavefronts of shared memory, for each million multiply-adds,
so kernels of any tile and any architecture stand in one table. Counts, not speeds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gemm_lab.cards.card import card
from gemm_lab.cards.table import Table
from gemm_lab.lab import Kernel, kernel
from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import LabError

PRODUCTS = ("tcgen05.mma", "wgmma.mma_async", "wmma.mma", "mma.sync", "fma.rn.f32")  # the first that a kernel has
SIZE = (256, 256, 1024)  # m, n, k: epilogues count for little


@dataclass(frozen=True)
class Counted:
    """One kernel at one size, counted.

    products      executions of the instruction that multiplies, by warps (tcgen05.mma: by one thread)
    instructions  PTX instructions executed by warps, products included
    wavefronts    of shared memory; bytes that TMA writes and tcgen05.mma reads have none that were ever recorded
    registers     a thread, as compiled for the GPU that the ladder is taught on (or the one here)
    """

    kernel: str
    arch: str
    product: str
    macs: int
    products: int
    instructions: int
    wavefronts: int
    ideal_wavefronts: int
    registers: int

    @property
    def macs_per_product(self) -> float:
        return self.macs / self.products

    @property
    def others_per_million(self) -> float:
        """Warp instructions that multiply nothing, for each million multiply-adds."""
        return (self.instructions - self.products) / self.macs * 1e6

    @property
    def wavefronts_per_million(self) -> float:
        return self.wavefronts / self.macs * 1e6


class Generations(list):
    """A list of `Counted` that shows itself as a table."""

    def _table(self) -> Table:
        header = [
            "kernel",
            "compiled for",
            "multiplies with",
            "multiply-adds each",
            "others a million",
            "wavefronts a million",
            "registers",
        ]
        rows = [
            [
                row.kernel,
                row.arch,
                row.product,
                f"{row.macs_per_product:,.0f}",
                f"{row.others_per_million:,.0f}",
                f"{row.wavefronts_per_million:,.0f}",
                str(row.registers),
            ]
            for row in self
        ]
        note = "Counted on the emulator, for each million multiply-adds. A product counts once a warp that executes it."
        return Table(header, rows, note, 3)

    def __repr__(self) -> str:
        return "\n".join(self._table().lines(aligned=False))

    def _repr_html_(self) -> str:
        return card(self._table().html())


@checked
def generations(*names: str | Kernel, size: tuple[int, int, int] = SIZE) -> Generations:
    """Run the kernels on the emulator at `size` = (m, n, k) and count.

    Raises `LabError` if a result is wrong or nothing multiplies.
    """
    found, (m, n, k) = Generations(), size
    for name in names:
        made = kernel(name) if isinstance(name, str) else name
        made = replace(made, config=made.spec.configure()) if isinstance(name, str) else made  # not this GPU's
        run = made.run(n, m, k, backend="emulator")
        if not run.passed:
            raise LabError(
                f"{made.label} is wrong at {m} × {n} × {k}: {run.message} Counts of a wrong kernel mean nothing."
            )
        executed: dict[str, int] = {}
        for site in run.report.sites:
            product = next((known for known in PRODUCTS if site.opcode.startswith(known)), None)
            if product:
                executed[product] = executed.get(product, 0) + site.executions
        product = next((known for known in PRODUCTS if executed.get(known)), None)
        if product is None:
            raise LabError(f"{made.label} executes no instruction that multiplies matrices: {', '.join(PRODUCTS)}.")
        totals, compiled = run.report.totals, run.compiled
        found.append(
            Counted(
                made.name,
                compiled.arch,
                product,
                m * n * k,
                executed[product],
                run.report.instructions,
                totals.wavefronts,
                totals.ideal_wavefronts,
                compiled.registers,
            )
        )
    return found
