"""A puzzle of notebook 02b: one thread of a block, and where it has to wait for the others."""

from __future__ import annotations

from typing import Any

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import Missed, NotWritten, call
from gemm_lab_lessons.ch02.counted_matrix import Product
from gemm_lab_lessons.ch02.puzzles.tile_traffic import Function
from gemm_lab_lessons.ch02.thread_block import SharedTile, run_block


class _Block:
    """All threads of a block, to be called like one of them.

    Returns the number of barriers that they passed, or `...` if no thread is written yet.
    """

    def __init__(self, thread: Function, edge: int):
        self.__name__, self.__code__ = getattr(thread, "__name__", "thread"), getattr(thread, "__code__", None)
        self.thread, self.edge = thread, edge

    def __call__(self, *args: Any) -> Any:
        unwritten = []

        def one(*mine: Any) -> Any:
            made = self.thread(*mine)
            unwritten.append(made is ...)
            return None if made is ... else made

        passed = run_block(one, self.edge, self.edge, *args)
        return ... if all(unwritten) else passed


@register(
    "02_barrier",
    title="Threads that wait for each other",
    task="Complete thread(row, col, A, B, D, a, b): one thread of a block adds up one element of D out of tiles that "
    "all threads fill together, and waits with yield wherever another thread could be too early or too late.",
    hint="Two questions. When may a thread read an element that another one stores? And when may a thread store the "
    "next tile over the one that others may still be reading? There is one yield for each answer.",
)
def barrier(answer: Function) -> Facts:
    facts: Facts = []
    for edge, depth in ((2, 4), (3, 9), (4, 16)):
        product = Product(edge, edge, depth, seed=depth)
        a, b = SharedTile("a", edge, edge), SharedTile("b", edge, edge)
        passed = call(_Block(answer, edge), *product.matrices, a, b)
        if not (a.reads or b.reads):
            raise NotWritten
        if product.wrong:
            raise Missed(product.wrong)
        for name in "ab":
            loads = product.ledger.counts[f"dram_{name}"]
            if loads != edge * depth:
                raise Missed(
                    f"The block read {loads} elements of {name.upper()} from DRAM, and {edge * depth} are enough: each "
                    "thread carries one element of each tile."
                )
        steps = depth // edge
        if passed > 2 * steps:
            raise Missed(
                f"The result is right, but the block waited {passed} times for {steps} pairs of tiles. Two barriers "
                "for each pair are enough, and threads that wait do not multiply."
            )
        facts = [("threads", str(edge * edge)), ("barriers", str(passed)), ("pairs of tiles", str(steps))]
    return facts
