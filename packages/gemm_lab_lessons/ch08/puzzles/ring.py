"""The puzzle of notebook 08: the stage of a k tile and the parities for which both sides of a ring wait."""

from __future__ import annotations

from gemm_lab.notebook.puzzle import Right, register_law
from gemm_lab_lessons.ch08.mbarrier_phases import stage_and_parities


@register_law(
    "08_ring",
    title="Round the ring in numbers",
    task="Write ring(k_tile, stages): the tuple (stage of this k tile, parity for which a consumer waits on `full`, "
    "parity for which the producer waits on `empty` before it copies the tile). k tiles count from 0.",
    hint="In which round does the tile come, counted from 0? Its phase of `full` has this number, and a parity is the "
    "last bit of a phase. The producer waits for the phase of `empty` of the round before.",
    cases=[(k_tile, stages) for stages in (3, 2, 4) for k_tile in range(3 * stages)],
    tried="k tiles tried",
)
def ring(k_tile: int, stages: int) -> Right:
    turn, stage = divmod(k_tile, stages)
    first = "in the first round nobody has to free it: a fresh barrier lets parity 1 pass"
    freed = f"the phase that frees it has the number {turn - 1}" if turn else first
    why = f"k tile {k_tile} is in round {turn}, in stage {stage}. Phase {turn} of full brings it; {freed}."
    return stage_and_parities(k_tile, stages), why
