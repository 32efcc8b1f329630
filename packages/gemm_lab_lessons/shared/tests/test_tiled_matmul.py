"""The tiling hierarchy: exact products, and counts by the loops equal to the formulas."""

from itertools import permutations

import numpy as np
import pytest

from gemm_lab_lessons.shared.tiled_matmul import Tile, Traffic, closed_form, tiled_matmul, walk
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError, SizeError

DOCUMENT = {"block": (8, 32, 6), "warp": (4, 8, 3), "thread": (4, 4)}  # for 48 x 128 x 12
LEVELS = [(), ("block",), ("block", "warp"), ("block", "warp", "thread")]


def integers(m, k, seed=0):
    return np.random.default_rng(seed).integers(-4, 5, (m, k))


def tiles(levels):
    return {level: DOCUMENT[level] for level in levels}


@pytest.mark.parametrize("compute", ["loops", "numpy"])
@pytest.mark.parametrize("levels", LEVELS, ids=lambda levels: levels[-1] if levels else "naive")
def test_product_and_counts(levels, compute):
    a, b = integers(48, 12), integers(12, 128, seed=1)
    result = tiled_matmul(a, b, **tiles(levels), compute=compute)
    assert np.array_equal(result.product, a @ b)
    assert result.traffic == closed_form(48, 128, 12, **tiles(levels))
    assert result.steps["multiply-add"] == 48 * 128 * 12


@pytest.mark.parametrize("order", ["".join(p) for p in permutations("mnk")])
@pytest.mark.parametrize("size", [(8, 12, 20), (4, 12, 20), (8, 6, 20), (8, 12, 5)])
def test_every_block_order(order, size):
    """Also with a single tile along one axis, where a tile of another matrix can stay."""
    m, n, k = size
    a, b = integers(m, k), integers(k, n, seed=1)
    result = tiled_matmul(a, b, block=(4, 6, 5), order=order)
    assert np.array_equal(result.product, a @ b)
    assert result.traffic == closed_form(m, n, k, block=(4, 6, 5), order=order)


def test_numbers_of_the_tiling_text_written_out():
    """48 x 128 x 12 in block tiles 8 x 32 x 6: A is read 128/32 = 4 times, B 48/8 = 6 times, C written."""
    traffic = closed_form(48, 128, 12, **DOCUMENT)
    assert traffic == Traffic(
        dram_a=4 * 48 * 12,
        dram_b=6 * 12 * 128,
        dram_c_write=48 * 128,
        shared_a=48 * 12 * (128 // 8),
        shared_b=12 * 128 * (48 // 4),
        register_a=48 * 12 * (128 // 4),
        register_b=12 * 128 * (48 // 4),
    )


def test_each_level_moves_less_than_the_one_below():
    traffic = closed_form(256, 256, 256, block=(64, 64, 16), warp=(32, 32, 8), thread=(8, 8))
    assert traffic.dram < traffic.shared < traffic.registers < 2 * 256**3


def test_the_k_extent_of_a_tile_does_not_change_the_traffic():
    counts = {closed_form(256, 256, 256, block=(64, 64, bk)).dram for bk in (8, 16, 64)}
    assert len(counts) == 1


def test_k_outermost_puts_sums_aside():
    inner = closed_form(64, 64, 64, block=(16, 16, 16), order="mnk")
    outer = closed_form(64, 64, 64, block=(16, 16, 16), order="kmn")
    assert inner.dram_c_read == 0 and inner.dram_c_write == 64 * 64
    assert outer.dram_c_write == 4 * 64 * 64 and outer.dram_c_read == 3 * 64 * 64
    assert outer.dram_a == 64 * 64  # each tile of A is used up before the next


def test_256_is_quick_and_exact():
    a, b = integers(256, 256), integers(256, 256, seed=1)
    tiling = {"block": (64, 64, 16), "warp": (32, 32, 8), "thread": (8, 8)}
    result = tiled_matmul(a, b, **tiling)
    assert np.array_equal(result.product, a @ b)
    assert result.steps == {"block": 256, "warp": 2048, "thread": 32768, "multiply-add": 256**3}


def test_floats_are_summed_in_double():
    a, b = np.random.default_rng(0).normal(size=(2, 16, 16)).astype(np.float32)
    assert np.allclose(tiled_matmul(a, b, block=(8, 8, 8)).product, a.astype(float) @ b.astype(float))


def test_walk_covers_every_product_once_at_every_level():
    seen = {level: np.zeros((8, 12, 10), int) for level in ("block", "warp", "thread")}
    for tile in walk(8, 12, 10, block=(4, 6, 10), warp=(4, 3, 5), thread=(2, 3)):
        seen[tile.level][np.ix_(tile.m, tile.n, tile.k)] += 1
    assert all((counts == 1).all() for counts in seen.values())


def test_walk_goes_down_before_it_goes_on():
    events = list(walk(8, 8, 8, block=(4, 4, 4), warp=(4, 2, 4)))
    assert events[:4] == [
        Tile("block", range(0, 4), range(0, 4), range(0, 4)),
        Tile("warp", range(0, 4), range(0, 2), range(0, 4)),
        Tile("warp", range(0, 4), range(2, 4), range(0, 4)),
        Tile("block", range(0, 4), range(0, 4), range(4, 8)),
    ]


@pytest.mark.parametrize(
    "tiling, words",
    [
        ({"block": (5, 32, 6)}, ["block tile", "m = 5", "m can be", "8"]),
        ({"block": (8, 32, 5)}, ["k = 5", "k can be", "6"]),
        ({"block": (8, 32, 6), "warp": (3, 8, 3)}, ["warp tile", "the block tile", "m can be 1, 2, 4"]),
        ({"block": (8, 32, 6), "warp": (4, 8, 3), "thread": (4, 3)}, ["thread tile", "n can be"]),
    ],
)
def test_tiles_that_do_not_divide_name_what_works(tiling, words):
    with pytest.raises(SizeError) as caught:
        tiled_matmul(integers(48, 12), integers(12, 128), **tiling)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    "wrong",
    [
        {"warp": (4, 8, 3)},
        {"block": (8, 32, 6), "thread": (4, 4)},
        {"block": (8, 32)},
        {"block": (8, 32, 0)},
        {"block": (8, 32, 6), "order": "mmk"},
        {"block": (8, 32, 6), "compute": "cuda"},
    ],
)
def test_wrong_arguments_are_refused(wrong):
    with pytest.raises(SimulatorError):
        tiled_matmul(integers(48, 12), integers(12, 128), **wrong)


def test_shapes_that_cannot_be_multiplied():
    with pytest.raises(SizeError, match="cannot be multiplied"):
        tiled_matmul(integers(4, 5), integers(4, 5))


def test_walk_complains_before_the_first_tile():
    with pytest.raises(SizeError):
        walk(8, 8, 8, block=(3, 4, 4))


@pytest.mark.parametrize(
    ("edge", "more", "says"),
    [
        (1024, {"block": (1, 1, 1)}, "minutes of work for these loops"),
        (512, {"compute": "loops"}, "minutes of work"),
        (2048, {}, "Choose smaller matrices or larger tiles"),
    ],
)
def test_what_would_take_minutes_is_refused_first(edge, more, says):
    matrix = np.ones((edge, edge), np.int8)
    with pytest.raises(SizeError, match=says):
        tiled_matmul(matrix, matrix, **more)


@pytest.mark.parametrize("size", [0, -4, 2**31])
def test_walk_takes_sizes_that_a_product_may_have(size):
    with pytest.raises(SizeError, match="each has to be 1 to 65,536"):
        walk(size, 8, 8, block=(1, 1, 1))


@pytest.mark.parametrize("matrix", [[[1, 2], [3]], [["a", "b"]], [[1j, 2]], [[None, 1]]])
def test_matrices_are_of_real_numbers(matrix):
    with pytest.raises(LabError, match="matrices of"):
        tiled_matmul(matrix, np.ones((2, 2)))


def test_warp_tiles_alone_leave_two_registers_for_each_product():
    traffic = closed_form(64, 64, 32, block=(32, 32, 8), warp=(8, 16, 8))
    assert traffic.registers == 2 * 64 * 64 * 32
    assert traffic.shared == 64 * 64 * 32 // 8 + 64 * 64 * 32 // 16
