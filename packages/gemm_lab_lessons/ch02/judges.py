"""Checks the division of a block tile among warps that exercise 02_warp_tile asks for."""

from __future__ import annotations

from typing import Any

from gemm_lab.notebook.exercises import Exercise, Solved, WrongAnswer, numbers_of


def judge_warp_tile(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check the division of a block tile among warps: it must read the fewest elements from shared memory."""
    warps_m, warps_n = numbers_of(exercise, choices, ("warps_m", "warps_n"))
    block_m, block_n = exercise.criteria["block"]
    total = exercise.criteria["warps"]
    if warps_m * warps_n != total:
        raise WrongAnswer(exercise, [f"{warps_m} × {warps_n} = {warps_m * warps_n} warps; the block has {total}."])

    def reads(rows: int, columns: int) -> int:
        return block_m * columns + block_n * rows  # in each step of k, every warp reads its rows of A and columns of B

    if block_m % warps_m or block_n % warps_n:
        raise WrongAnswer(exercise, [f"{warps_m} × {warps_n} warps do not divide {block_m} × {block_n}."])
    best = min(reads(r, total // r) for r in range(1, total + 1) if total % r == 0)
    mine = reads(warps_m, warps_n)
    if mine > best:
        raise WrongAnswer(exercise, [f"Your warps read {mine} elements for each step of k; {best} is possible."])
    return Solved(
        exercise.title,
        [("elements read per step of k", str(mine)), ("warp tile", f"{block_m // warps_m} × {block_n // warps_n}")],
    )


JUDGES = {"warp_tile": judge_warp_tile}
