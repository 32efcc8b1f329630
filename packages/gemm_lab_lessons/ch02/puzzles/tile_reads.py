"""Puzzles of notebook 02a: formulas for what tiles read."""

from __future__ import annotations

import numpy as np

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import expect_all
from gemm_lab_lessons.ch02.puzzles.tile_traffic import Function
from gemm_lab_lessons.shared.tiled_matmul import closed_form


@register(
    "02_reads",
    title="One formula for every level",
    task="Write reads(rows, cols): how many elements of A and B together a tile of rows × cols elements of D reads for "
    "each multiply-add.",
    hint="Take one k. The tile needs one element of A for each of its rows and one element of B for each of its "
    "columns. How many multiply-adds does it do with them?",
)
def reads(answer: Function) -> Facts:
    rng = np.random.default_rng(3)
    tiles = [(1, 1), (2, 4), (8, 16), (32, 32), (64, 1), *rng.integers(1, 200, (20, 2)).tolist()]

    def wanted(rows: int, cols: int) -> float:
        moved = closed_form(rows, cols, 1, block=(rows, cols, 1))
        return (moved.dram_a + moved.dram_b) / (rows * cols)

    def why(rows: int, cols: int) -> str:
        return f"For one k, the tile does {rows * cols:,} multiply-adds with {rows} elements of A and {cols} of B."

    tried = expect_all(answer, [((rows, cols), wanted(rows, cols)) for rows, cols in tiles], why)
    return [("tiles tried", str(tried))]


@register(
    "02_warp_reads",
    title="What warps read",
    task="Write warp_reads(BM, BN, rows, cols): how many elements rows × cols warps read from shared memory for one k, "
    "if they divide a block tile of BM × BN evenly among them.",
    hint="A warp tile has BM / rows rows and BN / cols columns. For one k a warp reads one element for each of its "
    "rows and one for each of its columns. How many warps are there?",
)
def warp_reads(answer: Function) -> Facts:
    rng = np.random.default_rng(4)
    cases = [(8, 16, 2, 2), (128, 128, 1, 1), (128, 64, 4, 1), (64, 128, 1, 8), (256, 64, 2, 4)]
    for _ in range(12):
        tile, warps = rng.integers(1, 33, 2).tolist(), rng.integers(1, 9, 2).tolist()
        cases.append((tile[0] * warps[0], tile[1] * warps[1], warps[0], warps[1]))

    def wanted(bm: int, bn: int, rows: int, cols: int) -> int:
        return closed_form(bm, bn, 1, block=(bm, bn, 1), warp=(bm // rows, bn // cols, 1)).shared

    def why(bm: int, bn: int, rows: int, cols: int) -> str:
        return f"There are {rows * cols} warps, each with a tile of {bm // rows} × {bn // cols}."

    tried = expect_all(answer, [(case, wanted(*case)) for case in cases], why)
    return [("splits tried", str(tried))]
