"""Checks a tile layout in shared memory: that it is possible, free of bank conflicts, and small."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemm_lab.notebook.exercises import Exercise, Solved, numbers_of, settled
from gemm_lab_lessons.ch05.tile_access import access_problem, totals
from gemm_lab_lessons.ch05.tile_layout import TileLayout
from gpu_simulator.hardware.banks import conflict_degree
from gpu_simulator.hardware.swizzle import LayoutError


def judge_layout(wanted: Mapping[str, Any], choices: Mapping[str, int]) -> tuple[list[tuple[str, str]], list[str]]:
    """Check the tile `wanted["tile"]` with the learner's choices; returns (facts, reasons to refuse it).

    wanted["accesses"]: names of accesses in `model.tile_access`, whose wavefronts for the whole tile must be ideal.
    wanted["least_bytes"]: the smallest size in shared memory with which that is possible.
    """
    try:
        tile = TileLayout(**wanted["tile"], **choices)
    except LayoutError as error:
        return [], [str(error)]
    facts, reasons = [("shared memory", f"{tile.size_bytes:,} B")], []
    for access in wanted["accesses"]:
        if problem := access_problem(tile, access):
            return [], [problem]
        found, ideal = totals(tile, access)
        facts.append((f"{access}: wavefronts for each ideal one", f"{conflict_degree(found, ideal):.2f}"))
        if found > ideal:
            reasons.append(f"{access} needs {found:,} wavefronts for the tile; {ideal:,} is possible.")
    if not reasons and tile.size_bytes > wanted.get("least_bytes", tile.size_bytes):
        reasons.append(f"Free of conflicts, in {tile.size_bytes:,} bytes; {wanted['least_bytes']:,} is possible.")
    return facts, reasons


def judge_tile(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check a padding or a swizzle for a tile in shared memory; `choose` in exercises.toml names the parameters."""
    names = tuple(exercise.criteria["choose"])
    chosen = dict(zip(names, numbers_of(exercise, choices, names), strict=True))
    facts, reasons = judge_layout(exercise.criteria, chosen)
    return settled(exercise, reasons, facts)


JUDGES = {"tile": judge_tile}
