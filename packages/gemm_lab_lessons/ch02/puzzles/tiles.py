"""Puzzles of notebook 02a: whole products, from three loops to nine."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import Missed
from gemm_lab_lessons.ch02.counted_matrix import Product
from gemm_lab_lessons.ch02.loop_orders import Cache, loop_orders
from gemm_lab_lessons.ch02.puzzles.tile_traffic import (
    BLOCK,
    SIZE,
    THREAD,
    WARP,
    Function,
    counters,
    multiplied,
    require,
)
from gemm_lab_lessons.shared.tiled_matmul import Traffic, closed_form

REORDERED = (12, 24, 24)  # size of the product whose lines are counted
CACHE_LINES, LINE = 16, 8  # of the cache that counts the order of loops; elements in a line


@register(
    "02_naive",
    title="Three loops",
    task="Write naive(A, B, D): three loops over i, j and k that store the product of A and B in D, each element once.",
    hint="D.rows, D.cols and A.cols are the three extents. For each (i, j), begin with a sum of 0, add "
    "A[i, k] * B[k, j] for every k, and store the sum in D[i, j] behind the loop over k.",
)
def naive(answer: Function) -> Facts:
    tips = {"dram": "Each multiply-add reads one element of A and one of B."}
    for size in ((2, 3, 4), (1, 1, 1), (5, 4, 3), SIZE):
        product = multiplied(answer, size)
        require(product, closed_form(*size), tips=tips)
    return counters(product)


@register(
    "02_reorder",
    title="The order of the loops",
    task="Write reordered(A, B, D): the same product, with the three loops in the order that fetches the fewest lines.",
    hint="Only the innermost loop walks. Of A[i, k], B[k, j] and D[i, j], which index has to change in it, so that no "
    "matrix is walked down a column? And which of the two loops around it keeps the row of D where it is?",
)
def reorder(answer: Function) -> Facts:
    m, n, k = REORDERED
    multiplied(answer, (3, 4, 5))
    cache = Cache(CACHE_LINES, LINE)
    product = multiplied(answer, (m, n, k), cache=cache)
    mine, best = sum(cache.fetched.values()), _fewest_lines()
    if mine > best:
        fetched = ", ".join(f"{name} {cache.fetched[name]:,}" for name in "ABD")
        raise Missed(
            f"The product is right. Your order fetches {mine:,} lines ({fetched}), and the best of the six orders "
            f"{best:,}."
        )
    if product.ledger.multiply_adds < m * n * k:
        raise Missed("There were fewer multiply-adds than the product has.")
    return [("lines fetched", f"{mine:,}"), ("multiply-adds", f"{product.ledger.multiply_adds:,}")]


@lru_cache(maxsize=1)
def _fewest_lines() -> int:
    m, n, k = REORDERED
    orders = loop_orders(np.zeros((m, k), int), np.zeros((k, n), int), cache_lines=CACHE_LINES)
    return min(order.lines_total for order in orders.values())


@register(
    "02_block_tiles",
    title="Block tiles",
    task="Write block_tiles(A, B, D, BM, BN, BK): for each tile of D, copy the tiles of A and B that it needs, one "
    "pair for each step of BK, multiply out of the copies, and store the tile of sums.",
    hint="Inside the loop over k: a = A[i:i+BM, k:k+BK], and b likewise with the rows k and the columns j. Then three "
    "loops over the places inside the tiles, which add to d[ii, jj]. Where does d begin with zeros, and behind which "
    "loop is it stored?",
)
def block_tiles(answer: Function) -> Facts:
    tips = {
        "dram": "A slice copies a whole tile: cut it once for each step of BK, and then read from the copy, not from "
        "the matrix.",
        "shared": "Each multiply-add reads one element of each tile.",
    }
    for size, block in (((8, 8, 8), (4, 4, 4)), ((12, 8, 6), (4, 8, 3)), ((4, 4, 12), (4, 2, 12)), (SIZE, BLOCK)):
        product = multiplied(answer, size, *block)
        _require_tiles_of(product, block)
        require(product, closed_form(*size, block=block), ("shared", "register"), tips)
    return counters(product)


def _require_tiles_of(product: Product, block: tuple[int, int, int]) -> None:
    bm, bn, bk = block
    for name, most, shape in (("A", bm * bk, f"BM × BK = {bm} × {bk}"), ("B", bk * bn, f"BK × BN = {bk} × {bn}")):
        largest = product.ledger.largest[name]
        if largest > most:
            raise Missed(
                f"A tile of {name} with {largest} elements was copied into shared memory; it should be {shape}. Shared "
                "memory is small, so a block holds only what it needs for one step."
            )


@register(
    "02_edges",
    title="Any size",
    task="Write any_size(A, B, D, BM, BN, BK): block tiles for matrices that are no multiple of the tile.",
    hint="A slice ends where the matrix ends, so a tile at the edge is smaller, and a.rows, a.cols, b.rows and b.cols "
    "say how large it is. Which three loops, and which two shapes, still take BM, BN and BK for granted?",
)
def any_size(answer: Function) -> Facts:
    tips = {"dram": "Each tile is copied once for each step of BK, at the edge like elsewhere."}
    cases = (
        (SIZE, BLOCK),
        ((9, 8, 8), (4, 4, 4)),
        ((8, 9, 8), (4, 4, 4)),
        ((8, 8, 9), (4, 4, 4)),
        ((3, 5, 2), (4, 8, 4)),
        ((13, 21, 10), (4, 8, 4)),
    )
    for size, block in cases:
        product = multiplied(answer, size, *block)
        _require_tiles_of(product, block)
        (m, n, k), (bm, bn, _) = size, block
        every = m * n * k
        wanted = Traffic(m * k * -(-n // bn), k * n * -(-m // bm), 0, m * n, every, every, every, every)
        require(product, wanted, ("shared", "register"), tips)
    return [("size", "13 × 21, K = 10"), *counters(product)]


@register(
    "02_nine_loops",
    title="Nine loops",
    task="Write nine_loops(A, B, D, block, warp, thread): one function with all loops over block, warp and thread "
    "tiles.",
    hint="Nothing new is needed: write the body of warp_tiles in the place where block_tiles multiplies, and the body "
    "of thread_tiles in the place where warp_tiles multiplies. The sums of a thread then begin at row iw + it and "
    "column jw + jt of d.",
)
def nine_loops(answer: Function) -> Facts:
    tips = {
        "dram": "The tiles of A and B are copied in the loop over k, and in no loop inside it.",
        "shared": "A warp's slices are cut in the warp's loops, and in no loop inside them.",
        "register": "A thread's column and row are cut once for each k, and serve a whole outer product.",
    }
    cases = (
        ((8, 8, 8), (4, 4, 4), (2, 4, 2), (2, 2)),
        ((12, 8, 6), (6, 8, 3), (3, 4, 3), (1, 2)),
        ((48, 32, 6), (8, 32, 6), (4, 8, 3), (4, 4)),
        (SIZE, BLOCK, WARP, THREAD),
    )
    for size, block, warp, thread in cases:
        product = multiplied(answer, size, block, warp, thread)
        _require_tiles_of(product, block)
        require(product, closed_form(*size, block=block, warp=warp, thread=thread), tips=tips)
    return counters(product)
