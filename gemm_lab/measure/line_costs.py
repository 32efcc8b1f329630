"""The memory costs of one source line, or of a whole launch, as the simulator counts them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gpu_simulator.report import Totals, sum_of

PRODUCTS = ("wgmma.mma_async", "tcgen05.mma")  # tensor cores that read shared memory themselves


@dataclass(frozen=True)
class Cost(Totals):
    """Sums over instructions. Unlike in `Totals`, `requests` are those of global memory only.

    operand_bytes: bytes that tensor cores read from shared memory themselves, through descriptors. `wavefronts` has the
    reads of wgmma too, as an H200 counts them (`gpu_simulator.codegen.ops.matrix.wgmma`). For tcgen05 no count is
    recorded, so only the bytes are known.
    """

    operand_bytes: int = 0
    degree = Totals.conflict_degree

    @property
    def sectors_per_request(self) -> float:
        """Mean number of 32-byte sectors of global memory that a warp instruction accesses; 0 if there is none."""
        return self.sectors / self.requests if self.requests else 0.0


def cost(sites: Sequence[Any]) -> Cost:
    """The sum over sites of a report. The requests of a site count only if they access global memory."""
    operand_bytes = sum(site.bytes for site in sites if site.opcode.startswith(PRODUCTS))
    requests = sum(site.requests for site in sites if site.sectors)
    return Cost(**{**vars(sum_of(sites)), "requests": requests}, operand_bytes=operand_bytes)


def line_costs(report: Any, *files: str) -> dict[tuple[str, int], Cost]:
    """{(file, line): cost} for each line of these source files that has instructions."""
    return {place: cost(sites) for place, sites in report.sites_by_line(*files).items()}
