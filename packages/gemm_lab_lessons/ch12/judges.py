"""Checks a block tile for a GPU with wgmma: whole products, registers, shared memory, intensity and rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemm_lab.notebook.exercises import Exercise, Solved, numbers_of, settled
from gemm_lab_lessons.ch12.rounds import rounds
from gemm_results.roofline_model import intensity, rounded_down
from gpu_simulator.hardware.data_sheets import gpu

ROWS, COLUMNS, WIDEST = 64, 8, 256  # wgmma: 64 rows, 8 to 256 columns in steps of 8 (PTX ISA, wgmma.mma_async)
OPERAND_BYTES, THREADS = 2, 256  # BF16; the threads of the two warpgroups that have the sums in their registers


def judge_tile_rounds(
    criteria: Mapping[str, Any], block_m: int, block_n: int
) -> tuple[list[tuple[str, str]], list[str]]:
    """Check a block tile for a square product of criteria["size"]; returns (facts, reasons to refuse it)."""
    target, size, reasons = gpu(criteria["gpu"]), criteria["size"], []
    if block_m % ROWS:
        reasons.append(f"A wgmma has {ROWS} rows, and {block_m} is no multiple of them.")
    if block_n % COLUMNS or block_n > WIDEST:
        reasons.append(f"A wgmma has {COLUMNS} to {WIDEST} columns in steps of {COLUMNS}; {block_n} is none of these.")
    sums = -(-block_m * block_n // THREADS)
    if sums > criteria["sums"]:
        reasons.append(
            f"{block_m} × {block_n} sums are {sums} registers in each of {THREADS} threads; "
            f"{criteria['sums']} are free for them."
        )
    stages, depth = criteria["stages"], criteria["block_k"]
    smem = stages * (block_m + block_n) * depth * OPERAND_BYTES
    if smem > target.smem_per_block:
        reasons.append(
            f"{stages} stages take {smem:,} bytes; a block on a {target.name} has {target.smem_per_block:,}."
        )
    reads = intensity(block_m, block_n, OPERAND_BYTES)
    if reads < criteria["intensity"]:
        reasons.append(f"The tile gives {rounded_down(reads)} FLOP/byte; {criteria['intensity']} are asked for.")
    found = rounds(size, size, (block_m, block_n), target.sms)
    if found.useful < criteria["useful"]:
        reasons.append(f"{found}; {criteria['useful']:.0%} are asked for.")
    return [
        ("rounds", str(found.rounds)),
        ("useful", f"{found.useful:.1%}"),
        ("intensity", f"{rounded_down(reads)} FLOP/byte"),
        ("registers for sums", str(sums)),
        ("shared memory", f"{smem:,} B"),
    ], reasons


def judge_rounds(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check a block tile with which the last round of blocks is nearly full."""
    facts, reasons = judge_tile_rounds(exercise.criteria, *numbers_of(exercise, choices, ("block_m", "block_n")))
    return settled(exercise, reasons, facts)


JUDGES = {"rounds": judge_rounds}
