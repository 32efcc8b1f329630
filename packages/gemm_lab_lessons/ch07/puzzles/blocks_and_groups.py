"""Puzzles of notebook 07: how many blocks the registers allow, and how many groups of copies a wait leaves running."""

from __future__ import annotations

from gemm_lab.notebook.puzzle import Right, register_law
from gpu_timing.occupancy import occupancy


def _by_registers(registers: int, threads: int) -> int:
    return occupancy("h200", threads, registers, 0).limits["registers"]


@register_law(
    "07_blocks",
    title="Blocks by registers",
    task="Write blocks(registers, threads): how many blocks of `threads` threads the registers of a multiprocessor of "
    "an H200 allow. It has four quarters with 16,384 registers each, and all 32 threads of a warp take theirs from one "
    "quarter. A thread gets its registers in steps of 8: with 169 it takes 176. `threads` is a multiple of 128.",
    hint="How many registers does one warp take? How many such warps has one quarter room for, whole ones only? Then "
    "there are four quarters, and a block has threads / 32 warps.",
    cases=[(168, 128), (172, 128), (176, 128), (128, 256), (254, 128), (255, 256), (96, 384), (60, 256), (169, 128)],
    tried="kernels tried",
    facts=[("172 and 168 registers", f"{_by_registers(172, 128)} and {_by_registers(168, 128)} blocks")],
)
def blocks(registers: int, threads: int) -> Right:
    taken = 32 * (-(-registers // 8) * 8)
    return _by_registers(registers, threads), (
        f"A warp takes {taken:,} registers, so a quarter has room for {16_384 // taken} warps, the multiprocessor "
        f"for {4 * (16_384 // taken)}, and a block has {threads // 32}."
    )


@register_law(
    "07_wait_n",
    title="The N of the wait",
    task="Write wait_n(closed, needed): the N of cp_async_wait<N>() with which a thread waits for its group number "
    "`needed` and lets all newer ones go on. Groups count from 0, and `closed` of them are closed so far.",
    hint="The newest group has the number closed - 1. How many groups are newer than `needed`?",
    cases=[(1, 0), (2, 0), (3, 0), (3, 1), (7, 5), (12, 11), (20, 18)],
    tried="moments tried",
    facts=[("with S stages", "S - 1 groups are closed when the first is needed")],
)
def wait_n(closed: int, needed: int) -> Right:
    newer = [str(group) for group in range(needed + 1, closed)]
    return len(newer), f"Of the groups 0 to {closed - 1}, newer than {needed}: {', '.join(newer) or 'none'}."
