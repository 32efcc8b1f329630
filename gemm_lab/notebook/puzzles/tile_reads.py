"""Puzzles of notebook 02: formulas for what loops read, and for the pieces in which memory arrives."""

from __future__ import annotations

import numpy as np

from gemm_lab.model.tiled_matmul import closed_form
from gemm_lab.notebook.puzzles.puzzle import Facts, register
from gemm_lab.notebook.puzzles.tile_traffic import Function
from gemm_lab.notebook.puzzles.trying import expect_all


@register(
    "02_pieces",
    title="Pieces of memory",
    task="Write pieces(addresses, size): how many different pieces of size bytes hold the bytes at these addresses.",
    hint="Piece 0 has the bytes 0 to size - 1. The number of a byte's piece is its address divided by size, without "
    "the remainder. How often does a number count that comes twice? A Python set keeps each number once.",
)
def pieces(answer: Function) -> Facts:
    rng = np.random.default_rng(2)
    lists = [
        ([0, 8, 16, 24, 32, 40, 48, 56], 64),
        ([0, 64, 128, 192], 64),
        ([60, 64], 64),
        ([0, 1024, 8], 64),
        ([5, 5, 5], 32),
        ([96, 0, 100, 4], 32),
        (list(range(0, 128, 4)), 128),
        ([], 32),
        *((rng.integers(0, 2000, 32).tolist(), int(size)) for size in (16, 32, 64, 128)),
    ]

    def why(addresses: list[int], size: int) -> str:
        if not addresses:
            return "No address, no piece."
        numbers = sorted({address // size for address in addresses})
        return f"These bytes lie in the pieces {', '.join(map(str, numbers[:6]))}{', …' if len(numbers) > 6 else ''}."

    tried = expect_all(answer, [((a, s), len({x // s for x in a})) for a, s in lists], why)
    return [("lists tried", str(tried))]


@register(
    "02_dram_reads",
    title="What block tiles read",
    task="Write dram_reads(M, N, K, BM, BN): how many elements of A and B together block_tiles reads from DRAM.",
    hint="How many tiles does D have from left to right? For each of them, all of A is read once. The same question "
    "from top to bottom tells how often all of B is read.",
)
def dram_reads(answer: Function) -> Facts:
    rng = np.random.default_rng(3)
    cases = [((16, 32, 8), (8, 16)), ((64, 64, 64), (16, 16)), ((256, 256, 128), (128, 128)), ((8, 8, 100), (8, 8))]
    for _ in range(12):
        tile, times = rng.integers(1, 40, 2).tolist(), rng.integers(1, 9, 2).tolist()
        size = (tile[0] * times[0], tile[1] * times[1], int(rng.integers(1, 99)))
        cases.append((size, (tile[0], tile[1])))

    def wanted(size: tuple[int, int, int], tile: tuple[int, int]) -> int:
        moved = closed_form(*size, block=(*tile, 1))
        return moved.dram_a + moved.dram_b

    def why(m: int, n: int, k: int, bm: int, bn: int) -> str:
        return f"A is {m} × {k}, B is {k} × {n}, and D has {m // bm} × {n // bn} tiles."

    tried = expect_all(answer, [((*size, *tile), wanted(size, tile)) for size, tile in cases], why)
    return [("sizes tried", str(tried))]


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
