"""`generations("t4/08", "hopper/08", …)`: compares kernels for several GPU generations by the simulator's counts.

It counts the PTX instructions that warps execute and the wavefronts of shared memory, both for each million
multiply-adds, so kernels with any tile and for any architecture can be compared. These are counts, not speeds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gemm_lab.lab import Kernel, kernel
from gemm_look.card import card
from gemm_look.table import Table
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import checked

PRODUCTS = ("tcgen05.mma", "wgmma.mma_async", "wmma.mma", "mma.sync", "fma.rn.f32")  # the first that occurs counts
SIZE = (256, 256, 1024)  # m, n, k; with this long k, epilogues are a small part


@dataclass(frozen=True)
class Counted:
    """The counts of one kernel at one size.

    product       the instruction that multiplies
    macs          multiply-adds of the product: m · n · k
    products      executions of this instruction by warps (of tcgen05.mma, by single threads)
    instructions  PTX instructions executed by warps, including `products`
    wavefronts    wavefronts of shared memory; for bytes that TMA writes and tcgen05.mma reads, none are known
    registers     registers of a thread, as compiled for `arch`
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
        """Warp instructions other than `products`, for each million multiply-adds."""
        return (self.instructions - self.products) / self.macs * 1e6

    @property
    def wavefronts_per_million(self) -> float:
        return self.wavefronts / self.macs * 1e6


class Generations(list):
    """A list of `Counted`, which is displayed as a table."""

    def _table(self) -> Table:
        counts = ["multiply-adds each", "others a million", "wavefronts a million", "registers"]
        header = ["kernel", "compiled for", "multiplies with", *counts]
        rows = []
        for row in self:
            numbers = (row.macs_per_product, row.others_per_million, row.wavefronts_per_million, row.registers)
            rows.append([row.kernel, row.arch, row.product, *(f"{number:,.0f}" for number in numbers)])
        note = "Counted on the simulator, for each million multiply-adds."
        return Table(header, rows, f"{note} A product counts once a warp that executes it.", 3)

    def __repr__(self) -> str:
        return "\n".join(self._table().lines(aligned=False))

    def _repr_html_(self) -> str:
        return card(self._table().html())


@checked
def generations(*names: str | Kernel, size: tuple[int, int, int] = SIZE) -> Generations:
    """Run kernels (or names) on the simulator at `size` = (m, n, k); returns a `Counted` for each.

    Raises `LabError` if a result is wrong, or if a kernel executes none of the instructions in `PRODUCTS`.
    """
    found, (m, n, k) = Generations(), size
    for name in names:
        made = kernel(name) if isinstance(name, str) else name
        made = replace(made, config=made.spec.configure()) if isinstance(name, str) else made  # not tuned for this GPU
        run = made.run(n, m, k, backend="simulator")
        if not run.passed:
            raise LabError(
                f"{made.label} is wrong at {m} × {n} × {k}: {run.message} Counts of a wrong kernel mean nothing."
            )
        sites, totals, compiled = run.report.sites, run.report.totals, run.compiled
        executed = {
            product: sum(site.executions for site in sites if site.opcode.startswith(product)) for product in PRODUCTS
        }
        product = next((known for known in PRODUCTS if executed[known]), None)
        if product is None:
            raise LabError(f"{made.label} executes no instruction that multiplies matrices: {', '.join(PRODUCTS)}.")
        counts = (m * n * k, executed[product], run.report.instructions, totals.wavefronts, totals.ideal_wavefronts)
        found.append(Counted(made.name, compiled.arch, product, *counts, compiled.registers))
    return found
