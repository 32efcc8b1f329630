"""Checks the block tile that exercise 01_block_tile asks for."""

from __future__ import annotations

from typing import Any

from gemm_lab.notebook.exercises import Exercise, Solved, numbers_of, settled
from gemm_results import roofline_model as roofline
from gpu_simulator.hardware.data_sheets import gpu


def judge_block_tile(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check a block tile: whole mma tiles for each warp, a large enough intensity, stages and sums that fit."""
    m, n, k = numbers_of(exercise, choices, ("block_m", "block_n", "block_k"))
    target, stages = gpu(exercise.criteria["gpu"]), exercise.criteria["stages"]
    argument = roofline.l2_argument(m, n)
    smem, reasons = stages * (m + n) * k * 2, []
    if not argument.enough:
        reasons.append(
            f"{m} × {n} gives {roofline.rounded_down(argument.intensity)} FLOP/byte; "
            f"the balance point is {argument.balance:.2f}."
        )
    if smem > target.smem_per_block:
        reasons.append(
            f"{stages} stages take {smem:,} bytes; a block on a {target.name} has {target.smem_per_block:,}."
        )
    threads, other = exercise.criteria["threads"], exercise.criteria["other_registers"]
    warps = threads // 32
    sums, most = -(-m * n // threads), target.max_registers_per_thread
    if sums + other > most:
        reasons.append(
            f"{m} × {n} sums take {sums} registers for each of {threads} threads, and other values {other} more. "
            f"A thread has {most}."
        )
    if m % 16 or n % 8 or k % 8:
        reasons.append(
            "An mma of a T4 multiplies 16 × 8 × 8: block_m must be a multiple of 16, block_n and block_k of 8."
        )
    elif not any(m % (16 * rows) == 0 and n % (8 * (warps // rows)) == 0 for rows in _divisors(warps)):
        reasons.append(
            f"The {threads} threads are {warps} warps, which share the tile evenly, as rows and columns of equal "
            f"rectangles made of whole 16 × 8 pieces. The {m // 16} × {n // 8} pieces of {m} × {n} cannot be cut "
            f"into {warps} such rectangles."
        )
    facts = [
        ("intensity", f"{roofline.rounded_down(argument.intensity)} FLOP/byte"),
        ("balance", f"{argument.balance:.2f} FLOP/byte"),
        ("shared memory", f"{smem:,} B"),
        ("registers for sums", f"{sums} of {most} a thread"),
    ]
    return settled(exercise, reasons, facts)


def _divisors(number: int) -> list[int]:
    return [part for part in range(1, number + 1) if number % part == 0]


JUDGES = {"block_tile": judge_block_tile}
