"""The puzzle of notebook 08: the stage of a k tile and the parities for which both sides of a ring wait."""

from __future__ import annotations

from collections.abc import Callable

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import expect_all
from gemm_lab_lessons.ch08.mbarrier_phases import stage_and_parities


@register(
    "08_ring",
    title="Round the ring in numbers",
    task="Write ring(k_tile, stages): the tuple (stage of this k tile, parity for which a consumer waits on `full`, "
    "parity for which the producer waits on `empty` before it copies the tile). k tiles count from 0.",
    hint="In which round does the tile come, counted from 0? Its phase of `full` has this number, and a parity is the "
    "last bit of a phase. The producer waits for the phase of `empty` of the round before.",
)
def ring(answer: Callable[[int, int], tuple[int, int, int]]) -> Facts:
    def why(k_tile: int, stages: int) -> str:
        turn, stage = divmod(k_tile, stages)
        first = "in the first round nobody has to free it: a fresh barrier lets parity 1 pass"
        freed = f"the phase that frees it has the number {turn - 1}" if turn else first
        return f"k tile {k_tile} is in round {turn}, in stage {stage}. Phase {turn} of full brings it; {freed}."

    cases = [(k_tile, stages) for stages in (3, 2, 4) for k_tile in range(3 * stages)]
    tried = expect_all(answer, [(case, stage_and_parities(*case)) for case in cases], why)
    return [("k tiles tried", str(tried))]
