"""Puzzles of notebook 02a: formulas for what tiles read."""

from __future__ import annotations

import numpy as np

from gemm_lab.notebook.puzzle import Right, register_law
from gemm_lab_lessons.shared.tiled_matmul import closed_form


@register_law(
    "02_reads",
    title="One formula for every level",
    task="Write reads(rows, cols): how many elements of A and B together a tile of rows × cols elements of D reads for "
    "each multiply-add.",
    hint="Take one k. The tile needs one element of A for each of its rows and one element of B for each of its "
    "columns. How many multiply-adds does it do with them?",
    cases=[(1, 1), (2, 4), (8, 16), (32, 32), (64, 1), *np.random.default_rng(3).integers(1, 200, (20, 2)).tolist()],
    tried="tiles tried",
)
def reads(rows: int, cols: int) -> Right:
    moved = closed_form(rows, cols, 1, block=(rows, cols, 1))
    why = f"For one k, the tile does {rows * cols:,} multiply-adds with {rows} elements of A and {cols} of B."
    return (moved.dram_a + moved.dram_b) / (rows * cols), why


_RANDOM = np.random.default_rng(4)


@register_law(
    "02_warp_reads",
    title="What warps read",
    task="Write warp_reads(BM, BN, rows, cols): how many elements rows × cols warps read from shared memory for one k, "
    "if they divide a block tile of BM × BN evenly among them.",
    hint="A warp tile has BM / rows rows and BN / cols columns. For one k a warp reads one element for each of its "
    "rows and one for each of its columns. How many warps are there?",
    cases=[
        *((8, 16, 2, 2), (128, 128, 1, 1), (128, 64, 4, 1), (64, 128, 1, 8), (256, 64, 2, 4)),
        *(
            (m * rows, n * cols, rows, cols)
            for m, n, rows, cols in _RANDOM.integers(1, (33, 33, 9, 9), (12, 4)).tolist()
        ),
    ],
    tried="splits tried",
)
def warp_reads(bm: int, bn: int, rows: int, cols: int) -> Right:
    m, n = bm // rows, bn // cols
    why = f"There are {rows * cols} warps, each with a tile of {m} × {n}."
    return closed_form(bm, bn, 1, block=(bm, bn, 1), warp=(m, n, 1)).shared, why
