"""Checks a block tile that has to stay fed at a clock: supply of bytes, registers, rounds."""

from __future__ import annotations

from typing import Any

from gemm_lab.notebook.exercises import Exercise, Solved, numbers_of, settled
from gemm_lab_lessons.ch10.split_k_criteria import SplitKCriteria
from gemm_lab_lessons.ch10.tile_bounds import bytes_per_clock, tail
from gpu_simulator.hardware.data_sheets import gpu

ROWS, COLUMNS, WIDEST = 64, 8, 256  # wgmma: 64 rows, 8 to 256 columns in steps of 8 (PTX ISA, wgmma.mma_async)


def judge_fed(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check a block tile of a warpgroup that takes turns with another one, as in 08_ping_pong."""
    block_m, block_n = numbers_of(exercise, choices, ("block_m", "block_n"))
    wanted, reasons = exercise.criteria, []
    target, size = gpu(wanted["gpu"]), wanted["size"]
    if block_m % ROWS:
        reasons.append(f"A wgmma has {ROWS} rows, and {block_m} is no multiple of them.")
    if block_n % COLUMNS or block_n > WIDEST:
        reasons.append(f"A wgmma has {COLUMNS} to {WIDEST} columns in steps of {COLUMNS}; {block_n} is none of these.")
    sums = -(-block_m * block_n // 128)
    if sums > wanted["sums"]:
        reasons.append(
            f"{block_m} × {block_n} sums are {sums} registers in each of 128 threads; "
            f"{wanted['sums']} are free for them."
        )
    needed = bytes_per_clock(block_m, block_n) * target.sms * wanted["mhz"] / 1e6
    if needed > wanted["supply"]:
        reasons.append(
            f"At {wanted['mhz']:,} MHz such tiles need {needed:.1f} TB/s, and only {wanted['supply']} TB/s are sure to "
            "come."
        )
    found = tail(size, size, (block_m, block_n), target.sms)
    useful = size * size / (found.waves * target.sms * block_m * block_n)
    if useful < wanted["useful"]:
        reasons.append(
            f"{found.tiles:,} tiles take {found.waves} rounds of {target.sms}, of which {useful:.1%} are useful; "
            f"{wanted['useful']:.0%} are asked for."
        )
    facts = [("needs", f"{needed:.1f} TB/s"), ("registers for sums", str(sums)), ("useful", f"{useful:.1%}")]
    return settled(exercise, reasons, facts)


JUDGES = {"fed": judge_fed}
CRITERIA = [SplitKCriteria()]
