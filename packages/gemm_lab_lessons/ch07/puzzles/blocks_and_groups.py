"""Puzzles of notebook 07: how many blocks the registers allow, and how many groups of copies a wait leaves running."""

from __future__ import annotations

from collections.abc import Callable

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import expect_all
from gpu_timing.occupancy import occupancy


@register(
    "07_blocks",
    title="Blocks by registers",
    task="Write blocks(registers, threads): how many blocks of `threads` threads the registers of a multiprocessor of "
    "an H200 allow. It has four quarters with 16,384 registers each, and all 32 threads of a warp take theirs from one "
    "quarter. A thread gets its registers in steps of 8: with 169 it takes 176. `threads` is a multiple of 128.",
    hint="How many registers does one warp take? How many such warps has one quarter room for, whole ones only? Then "
    "there are four quarters, and a block has threads / 32 warps.",
)
def blocks(answer: Callable[[int, int], int]) -> Facts:
    cases = [(168, 128), (172, 128), (176, 128), (128, 256), (254, 128), (255, 256), (96, 384), (60, 256), (169, 128)]

    def right(registers: int, threads: int) -> int:
        return occupancy("h200", threads, registers, 0).limits["registers"]

    def why(registers: int, threads: int) -> str:
        taken = 32 * (-(-registers // 8) * 8)
        return (
            f"A warp takes {taken:,} registers, so a quarter has room for {16_384 // taken} warps, the multiprocessor "
            f"for {4 * (16_384 // taken)}, and a block has {threads // 32}."
        )

    tried = expect_all(answer, [(case, right(*case)) for case in cases], why)
    return [("kernels tried", str(tried)), ("172 and 168 registers", f"{right(172, 128)} and {right(168, 128)} blocks")]


@register(
    "07_wait_n",
    title="The N of the wait",
    task="Write wait_n(closed, needed): the N of cp_async_wait<N>() with which a thread waits for its group number "
    "`needed` and lets all newer ones go on. Groups count from 0, and `closed` of them are closed so far.",
    hint="The newest group has the number closed - 1. How many groups are newer than `needed`?",
)
def wait_n(answer: Callable[[int, int], int]) -> Facts:
    cases = [(1, 0), (2, 0), (3, 0), (3, 1), (7, 5), (12, 11), (20, 18)]

    def why(closed: int, needed: int) -> str:
        newer = [str(group) for group in range(needed + 1, closed)]
        return f"Of the groups 0 to {closed - 1}, newer than {needed}: {', '.join(newer) or 'none'}."

    tried = expect_all(answer, [(case, len(range(case[1] + 1, case[0]))) for case in cases], why)
    return [("moments tried", str(tried)), ("with S stages", "S - 1 groups are closed when the first is needed")]
