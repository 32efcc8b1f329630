"""The memory costs of one source line, or of a whole launch, as the simulator counts them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

PRODUCTS = ("wgmma.mma_async", "tcgen05.mma")  # tensor cores that read shared memory themselves


@dataclass(frozen=True)
class Cost:
    """Sums over instructions: `wavefronts` of shared memory, `sectors` and `requests` of global memory.

    operand_bytes: bytes that tensor cores read from shared memory themselves, through descriptors. `wavefronts` has the
    reads of wgmma too, as an H200 counts them (`gpu_simulator.codegen.ops.matrix.wgmma`). For tcgen05 no count is
    recorded, so only the bytes are known.
    """

    executions: int = 0
    wavefronts: int = 0
    ideal: int = 0
    sectors: int = 0
    requests: int = 0
    operand_bytes: int = 0

    @property
    def degree(self) -> float | None:
        """Wavefronts ÷ ideal wavefronts; None without accesses to shared memory."""
        return self.wavefronts / self.ideal if self.ideal else None

    @property
    def sectors_per_request(self) -> float:
        """Mean number of 32-byte sectors of global memory that a warp instruction accesses; 0 if there is none."""
        return self.sectors / self.requests if self.requests else 0.0


def cost(sites: Iterable[Any]) -> Cost:
    """The sum over sites of a report. The requests of a site count only if they access global memory."""
    executions = wavefronts = ideal = sectors = requests = operand_bytes = 0
    for site in sites:
        executions += site.executions
        wavefronts += site.wavefronts
        ideal += site.ideal_wavefronts
        if site.sectors:
            sectors += site.sectors
            requests += site.requests
        if site.opcode.startswith(PRODUCTS):
            operand_bytes += site.bytes
    return Cost(executions, wavefronts, ideal, sectors, requests, operand_bytes)


def line_costs(report: Any, *files: str) -> dict[tuple[str, int], Cost]:
    """{(file, line): cost} for each line of these source files that has instructions."""
    return {place: cost(sites) for place, sites in report.sites_by_line(*files).items()}
