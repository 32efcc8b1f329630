"""Checks a block tile for a product that is too small to fill a GPU: one round, few bytes, enough of them in flight."""

from __future__ import annotations

from typing import Any

from gemm_lab.notebook.exercises import Exercise, Solved, numbers_of, settled
from gemm_lab_lessons.ch10.tile_bounds import tail
from gpu_simulator.hardware.data_sheets import gpu

ROWS, COLUMNS, WIDEST = 64, 8, 256  # wgmma: 64 rows, 8 to 256 columns in steps of 8 (PTX ISA, wgmma.mma_async)
BLOCK_K, OPERAND_BYTES = 64, 2


def judge_small(exercise: Exercise, answer: Any, choices: dict[str, int]) -> Solved:
    """Check a block tile and its number of stages for criteria["shape"], the M, N and K of a product."""
    block_m, block_n, stages = numbers_of(exercise, choices, ("block_m", "block_n", "stages"))
    wanted, reasons = exercise.criteria, []
    target, (m, n, k) = gpu(wanted["gpu"]), wanted["shape"]
    if block_m % ROWS or m % block_m:
        reasons.append(f"A wgmma has {ROWS} rows and the tiles have to divide {m}; {block_m} rows do not do both.")
    if block_n % COLUMNS or block_n > WIDEST or n % block_n:
        reasons.append(
            f"A wgmma has {COLUMNS} to {WIDEST} columns in steps of {COLUMNS}, and the tiles have to divide {n}; "
            f"{block_n} columns do not do both."
        )
    found = tail(m, n, (block_m, block_n), target.sms)
    if found.waves > 1:
        reasons.append(f"{found.tiles} tiles take {found.waves} rounds of {target.sms}.")
    fetched = (block_m + block_n) * k * OPERAND_BYTES
    if fetched > wanted["most_bytes"]:
        reasons.append(f"A block fetches {fetched:,} bytes; at most {wanted['most_bytes']:,} are asked for.")
    stage = (block_m + block_n) * BLOCK_K * OPERAND_BYTES
    if stages * stage > target.smem_per_block:
        reasons.append(f"{stages} stages take {stages * stage:,} bytes; a block may have {target.smem_per_block:,}.")
    if stages > (k_tiles := k // BLOCK_K):
        reasons.append(f"K has {k_tiles} k tiles; a stage beyond so many never holds one.")
    if (waiting := (stages - 1) * stage) < wanted["in_flight"]:
        reasons.append(f"{waiting:,} bytes can be in flight; {wanted['in_flight']:,} are asked for.")
    facts = [("tiles", f"{found.tiles} on {target.sms} multiprocessors"), ("a block fetches", f"{fetched:,} bytes")]
    facts += [("in flight", f"{waiting:,} bytes"), ("shared memory", f"{stages * stage:,} bytes")]
    return settled(exercise, reasons, facts)


JUDGES = {"small": judge_small}
