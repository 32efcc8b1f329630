"""Puzzles of notebook 02a: what happens inside a block tile, level by level."""

from __future__ import annotations

from typing import Any

import numpy as np

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import Missed, NotWritten, call
from gemm_lab_lessons.ch02.counted_matrix import Product
from gemm_lab_lessons.ch02.puzzles.tile_traffic import BLOCK, THREAD, WARP, Function, counters, require
from gemm_lab_lessons.shared.tiled_matmul import Traffic, closed_form


def _inside(answer: Function, shape: tuple[int, int, int], cut: int, *args: Any) -> Product:
    """Let the function multiply one tile, which lies inside larger matrices; cut: how often it was copied already.

    Raises `Missed` unless the sums grow by the product, `NotWritten` if nothing was read.
    """
    m, n, k = shape
    product = Product(2 * m, 3 * n, 2 * k, seed=m + n + k)
    a, b = product.a[m : 2 * m, k : 2 * k], product.b[k : 2 * k, n : 2 * n]
    for _ in range(cut - 1):
        a, b = a[0:m, 0:k], b[0:k, 0:n]
    before = dict(product.ledger.counts)
    sums = np.arange(m * n).reshape(m, n)
    wanted = sums + np.array(a._numbers()).reshape(m, k) @ np.array(b._numbers()).reshape(k, n)
    first = sums.copy()
    call(answer, a, b, sums, *args)
    product.ledger.counts = {name: value - before[name] for name, value in product.ledger.counts.items()}
    product.size = shape
    if not any(product.ledger.counts.values()):
        raise NotWritten
    if not np.array_equal(sums, wanted):
        i, j = (int(at) for at in np.argwhere(sums != wanted)[0])
        if np.array_equal(sums, first):
            raise Missed("d was not changed. Add to it in place, as d[i, j] += … does.")
        lost = np.array_equal(sums, wanted - first)
        raise Missed(
            f"For {m} × {n} with k = {k}, d[{i}, {j}] was {first[i, j]} and is now {sums[i, j]}; expected "
            f"{wanted[i, j]}.{' What was in d before belongs to the sum.' if lost else ''}"
        )
    return product


@register(
    "02_warp_tiles",
    title="Warp tiles",
    task="Write warp_tiles(a, b, d, WM, WN, WK): cut the block tile into warp tiles, read each warp's slices of a and "
    "b once for each step of WK, and add the products to d.",
    hint="The loops are those of block_tiles, one level down: a and b take the place of A and B, and a slice of them "
    "is what a warp reads. The sums of this warp lie in d from row iw and column jw on.",
)
def warp_tiles(answer: Function) -> Facts:
    tips = {"shared": "Cut both slices once for each warp tile and each step of WK, and read elements from the slices."}
    for shape, warp in (((4, 4, 4), (2, 2, 2)), ((6, 4, 2), (3, 4, 1)), ((4, 8, 6), (4, 2, 3)), (BLOCK, WARP)):
        product = _inside(answer, shape, 1, *warp)
        require(product, _of_one_tile(shape, warp), ("register",), tips)
    m, n, k = BLOCK
    return [("one block tile", f"{m} × {n}, K = {k}"), *counters(product)[1:]]


@register(
    "02_thread_tiles",
    title="Thread tiles",
    task="Write thread_tiles(aw, bw, d, TM, TN): for each thread tile and each k, load a column of aw and a row of bw "
    "into registers and add their outer product to d.",
    hint="Three loops: it over rows in steps of TM, jt over columns in steps of TN, kt over aw.cols. The column is "
    "aw[it:it+TM, kt:kt+1], the row has the same kt, and column * row is a TM × TN array.",
)
def thread_tiles(answer: Function) -> Facts:
    tips = {"register": "One column and one row serve TM · TN multiply-adds; load them once for each k."}
    for shape, thread in (((4, 4, 3), (2, 2)), ((2, 6, 2), (1, 3)), ((8, 4, 1), (4, 1)), (WARP, THREAD)):
        product = _inside(answer, shape, 2, *thread)
        require(product, _of_one_tile(shape, shape, thread, shared=0), tips=tips)
    m, n, k = WARP
    return [("one warp tile", f"{m} × {n}, K = {k}"), *counters(product)[2:]]


def _of_one_tile(
    shape: tuple[int, int, int], warp: tuple[int, int, int], thread: tuple[int, int] | None = None, shared: int = 1
) -> Traffic:
    """The traffic inside one block tile, without what was read from DRAM; shared: 0 leaves that out too."""
    whole = closed_form(*shape, block=shape, warp=warp, thread=thread)
    return Traffic(
        shared_a=shared * whole.shared_a,
        shared_b=shared * whole.shared_b,
        register_a=whole.register_a,
        register_b=whole.register_b,
    )
