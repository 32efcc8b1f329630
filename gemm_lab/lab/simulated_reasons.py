"""Names the worst lines of a simulated kernel, with the reason, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gemm_lab.cards.simulated_lines import SimulatedLine
from gpu_simulator.layouts.reasons import global_reason, shared_reason
from gpu_simulator.layouts.recorded_accesses import GlobalAccess, SharedAccess


def reasons(
    report: Any,
    lines: Sequence[SimulatedLine],
    place_of: Mapping[int, tuple[str, int]],
    shared: Sequence[SharedAccess],
    accesses: Sequence[GlobalAccess],
) -> tuple[list[SimulatedLine], list[str]]:
    """(the worst lines, a sentence for each): for shared memory, then for global memory, where there is excess.

    place_of: instruction, an index of the report's sites -> its file and line.   shared, accesses: as recorded.
    """
    worst, sentences = [], []
    dearest = max(lines, key=lambda line: line.excess, default=None)
    if dearest and dearest.excess:
        own = [access for access in shared if place_of.get(access.site) == (dearest.file, dearest.number)]
        own.sort(key=lambda access: report.sites[access.site].ideal_wavefronts - report.sites[access.site].wavefronts)
        why = ""
        if own:
            opcode = report.sites[own[0].site].opcode
            why = " " + shared_reason(own[0], opcode.startswith(("ldmatrix", "stmatrix")))
        worst.append(dearest)
        sentences.append(
            f"Line {dearest.number} costs most in shared memory: {dearest.wavefronts:,} wavefronts, "
            f"{dearest.excess:,} more than the least possible.{why}"
        )
    elif any(line.wavefronts for line in lines):
        sentences.append("Shared memory: every line takes the least wavefronts possible, so no layout would be better.")
    widest = max(lines, key=lambda line: line.excess_sectors, default=None)
    if widest and widest.excess_sectors:
        found = [access for access in accesses if place_of.get(access.site) == (widest.file, widest.number)]
        found.sort(key=lambda access: -int(((access.sectors() - access.least()) * access.counts).sum()))
        why = f" {global_reason(found[0])}" if found else ""
        if widest not in worst:
            worst.append(widest)
        sentences.append(
            f"Line {widest.number} costs most in global memory: {widest.sectors:,} sectors, "
            f"{widest.excess_sectors:,} more than the least possible.{why}"
        )
    return worst, sentences
