"""Counted matrices: the traffic of plain loops is that of `tiled_matmul`, and misuse is said in a sentence."""

import numpy as np
import pytest

from gemm_lab.notebook.puzzle import puzzle
from gemm_lab_lessons.ch02.counted_matrix import TileError, count, counted, product_of
from gemm_lab_lessons.ch02.loop_orders import Cache, loop_orders
from gemm_lab_lessons.shared.tiled_matmul import Traffic, tiled_matmul
from gemm_results.errors import LabError
from gpu_simulator.errors import SizeError


def reference(m, n, k, **tiles):
    return tiled_matmul(np.ones((m, k), int), np.ones((k, n), int), **tiles).traffic


def with_warps(A, B, D, block, warp):
    inside = puzzle("02_warp_tiles").solution()
    bm, bn, bk = block
    for i in range(0, D.rows, bm):
        for j in range(0, D.cols, bn):
            d = np.zeros((bm, bn), int)
            for k in range(0, A.cols, bk):
                inside(A[i : i + bm, k : k + bk], B[k : k + bk, j : j + bn], d, *warp)
            D[i : i + bm, j : j + bn] = d


SIZES = [(16, 32, 8), (8, 64, 4)]
TILES = {"block": (8, 32, 4), "warp": (4, 8, 2), "thread": (2, 4)}


@pytest.mark.parametrize("size", SIZES)
def test_the_loops_move_what_tiled_matmul_says(size):
    block, warp, thread = TILES.values()
    for moved, tiles in (
        (count(puzzle("02_naive").solution(), *size), {}),
        (count(puzzle("02_block_tiles").solution(), *size, *block), {"block": block}),
        (count(with_warps, *size, block, warp), {"block": block, "warp": warp}),
        (count(puzzle("02_nine_loops").solution(), *size, block, warp, thread), TILES),
    ):
        assert moved.wrong == "" and moved.multiply_adds == np.prod(size)
        assert moved.traffic == reference(*size, **tiles)


def test_each_level_moves_less_than_the_one_before():
    size = (16, 32, 8)
    naive, block = (
        count(puzzle("02_naive").solution(), *size),
        count(puzzle("02_block_tiles").solution(), *size, 8, 16, 4),
    )
    nine = count(puzzle("02_nine_loops").solution(), *size, (8, 16, 4), (4, 8, 2), (2, 4))
    assert (naive.dram, naive.shared, naive.registers) == (8704, 0, 8192)
    assert (block.dram, block.shared, block.registers) == (1280, 8192, 8192)
    assert (nine.dram, nine.shared, nine.registers) == (1280, 1536, 3072)
    assert repr(nine) == "DRAM 1,280   shared memory 1,536   registers 3,072   multiply-adds 4,096"


def test_one_read_after_the_other():
    a, b, d = counted(4, 4, 4)
    counts = a.ledger.counts
    assert a.shape == b.shape == d.shape == (4, 4)
    a[1, 2]
    assert counts["dram_a"] == counts["register_a"] == 1
    tile = b[0:2, 0:4]
    assert counts["dram_b"] == 8 and counts["register_b"] == 0
    assert tile[1, 3] == b._values[1][3] and counts["shared_b"] == counts["register_b"] == 1
    warp = tile[0:2, 1:3]
    assert counts["shared_b"] == 5 and counts["register_b"] == 1
    row = warp[1, 0:2]
    assert row.shape == (1, 2) and counts["shared_b"] == 5 and counts["register_b"] == 3
    assert row[0, 1] == b._values[1][2] and counts["register_b"] == 3
    assert repr(row) == "B[1:2, 1:3] in the registers of a thread"
    assert a.ledger.multiply_adds == 0


def test_products_count_and_mix_with_plain_numbers():
    a, b, d = counted(3, 3, 3)
    x, y = a[0, 1], b[1, 2]
    assert x * y == y * x == int(x) * int(y) and a.ledger.multiply_adds == 2
    assert x * 3 == 3 * x == 3 * int(x) and x + 1 == int(x) + 1 and a.ledger.multiply_adds == 2
    d[0, 2] += x * y
    assert a.ledger.counts["dram_c_read"] == a.ledger.counts["dram_c_write"] == 1
    d[1:3, 0:2] += np.ones((2, 2))
    assert a.ledger.counts["dram_c_read"] == a.ledger.counts["dram_c_write"] == 5


def test_slices_with_steps_are_the_rows_of_a_thread():
    a, b, _ = counted(8, 8, 2)
    column = a[0:8, 0:2][1::4, 0:2][0:2, 1]
    assert repr(column) == "A[1:6:4, 1:2] in the registers of a thread"
    row = b[0:2, 0:8][0:2, 0:8][1, 2::4]
    assert np.array_equal(column * row, [[a._values[i][1] * b._values[1][j] for j in (2, 6)] for i in (1, 5)])


def test_lines_of_a_cache_are_those_of_the_loop_orders():
    def ikj(A, B, D):
        for i in range(D.rows):
            for k in range(A.cols):
                for j in range(D.cols):
                    D[i, j] += A[i, k] * B[k, j]

    cache = Cache(16, 8)
    product = product_of(12, 24, 24, cache=cache)
    ikj(*product.matrices)
    model = loop_orders(np.ones((12, 24)), np.ones((24, 24)))["ikj"].lines
    assert product.wrong == "" and cache.fetched == {"A": model["A"], "B": model["B"], "D": model["C"]}


def test_a_wrong_product_is_named():
    def nothing(A, B, D):
        D[0, 0] = 99

    moved = count(nothing, 2, 2, 2)
    assert "D[0, 1] was never stored. In all, 3 of 4 elements" in moved.wrong and "not the product" in repr(moved)


WRONG = {
    "A is asked for a row and a column": lambda a, b, d: a[0],
    "There is no A[8, 0]: A has rows 0 to 7": lambda a, b, d: a[8, 0],
    "There is no B[0, -1]: B has columns 0 to 7": lambda a, b, d: b[0, -1],
    "this tile of B has columns 0 to 3, counted from its own corner": lambda a, b, d: b[0:4, 4:8][0, 4],
    "rows are counted from 0, and never backwards": lambda a, b, d: a[-4:8, 0:2],
    "is empty: A has rows 0 to 7": lambda a, b, d: a[8:12, 0:4],
    "the ends of a slice are whole numbers": lambda a, b, d: a[0:2.5, 0:4],
    "1.5 is no row of A": lambda a, b, d: a[1.5, 0],
    "True is no row of A": lambda a, b, d: a[True, 0],
    "A is only read; the sums are stored in D": lambda a, b, d: a.__setitem__((0, 0), 1),
    "A[0, 1] was multiplied by A[1, 2]; a product takes one element of A and one of B": lambda a, b, d: (
        a[0, 1] * a[1, 2]
    ),
    "the column of A is the row of B, and 1 is not 2": lambda a, b, d: a[0, 1] * b[2, 0],
    "A multiply-add takes registers": lambda a, b, d: a[0:2, 0:1] * b[0:1, 0:2],
    "takes one column of A and one row of B": lambda a, b, d: (
        a[0:4, 0:4][0:4, 0:4][0:2, 0:2] * b[0:4, 0:4][0:4, 0:4][0:2, 0:2]
    ),
    "can be multiplied by a tile of the other matrix": lambda a, b, d: a[0:2, 0:2] * np.ones((2, 2)),
    "there is no faster memory": lambda a, b, d: a[0:4, 0:4][0:4, 0:4][0:4, 0:4][0:1, 0:1],
    "There is no @ here": lambda a, b, d: a @ b,
    "so that the reads can be counted": lambda a, b, d: np.array(a),
    "D[0:2, 0:2] takes 2 × 2 sums, and was given 3 × 3": lambda a, b, d: d.__setitem__(
        (slice(0, 2), slice(0, 2)), np.ones((3, 3))
    ),
    "D[0, 0] takes one sums, and was given 2": lambda a, b, d: d.__setitem__((0, 0), [1, 2]),
    "D holds sums of whole numbers": lambda a, b, d: d.__setitem__((0, 0), "3"),
    "and 0.5 is none": lambda a, b, d: d.__setitem__((0, 0), 0.5),
}


@pytest.mark.parametrize("says", WRONG)
def test_misuse_is_said(says):
    with pytest.raises(TileError) as caught:
        WRONG[says](*counted(8, 8, 8))
    assert says in str(caught.value)


@pytest.mark.parametrize("size", [(0, 4, 4), (4, 1.5, 4), (4, 4, 257), (256, 256, 256), (None, 4, 4)])
def test_sizes_that_are_none_or_too_large(size):
    with pytest.raises(SizeError):
        counted(*size)


def test_what_is_no_function():
    with pytest.raises(LabError, match="count takes a function"):
        count(3, 4, 4, 4)


def test_too_many_steps_for_a_picture():
    with pytest.raises(SizeError, match="too many for a picture"):
        puzzle("02_naive").solution()(*product_of(64, 64, 10, record=True).matrices)


def test_steps_know_the_line_and_the_counters():
    product = product_of(4, 4, 2, record=True)
    puzzle("02_block_tiles").solution()(*product.matrices, 4, 4, 2)
    first, second, third = product.ledger.steps[:3]
    assert (first.kind, first.matrix, first.level, first.rows, first.cols) == ("copy", "A", 0, range(4), range(2))
    assert first.line[1] + 1 == second.line[1] and second.counters == (16, 0, 0, 0)
    assert third.kind == "multiply" and third.reads == (("A", 1, 0, 0), ("B", 1, 0, 0)) and third.counters[3] == 1
    assert product.ledger.steps[-1].kind == "write" and product.ledger.steps[-1].counters == (32, 64, 64, 32)
    assert product.ledger.traffic == Traffic(8, 8, 0, 16, 32, 32, 32, 32)
