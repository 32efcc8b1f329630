"""Laws of block orders: every tile once, bands stay bands, and a wave never reads less than the best rectangle."""

import numpy as np
import pytest

from gemm_lab_lessons.ch10.block_order import ORDERS, block_order, least_bytes, waves
from gpu_simulator.errors import SimulatorError

GRIDS = [(1, 1), (3, 5), (8, 8), (16, 9), (7, 32), (10, 4)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("grid", GRIDS)
@pytest.mark.parametrize("group_m", [1, 3, 8])
def test_every_tile_once(order, grid, group_m):
    visited = block_order(order, *grid, group_m)
    assert sorted(map(tuple, visited.tolist())) == [(m, n) for m in range(grid[0]) for n in range(grid[1])]


@pytest.mark.parametrize("grid", GRIDS)
def test_groups_of_one_row_and_of_all_rows_are_the_plain_orders(grid):
    assert np.array_equal(block_order("grouped", *grid, 1), block_order("row", *grid))
    assert np.array_equal(block_order("grouped", *grid, grid[0]), block_order("column", *grid))


def test_grouped_as_it_is_written_in_kernels():
    tiles_m, tiles_n, group_m = 10, 6, 4
    for pid, (m, n) in enumerate(block_order("grouped", tiles_m, tiles_n, group_m).tolist()):
        group = pid // (group_m * tiles_n)
        size = min(tiles_m - group * group_m, group_m)
        assert m == group * group_m + pid % (group_m * tiles_n) % size and n == pid % (group_m * tiles_n) // size


def test_waves_count_the_panels_they_touch():
    order = block_order("row", 16, 16)
    first = waves(order, 64, (128, 256), 1024)[0]
    assert (first.blocks, first.rows, first.columns) == (64, 4, 16)
    assert first.read_bytes == 64 * (128 + 256) * 1024 * 2
    assert first.distinct_bytes == (4 * 128 + 16 * 256) * 1024 * 2
    grouped = waves(block_order("grouped", 16, 16, 8), 64, (128, 256), 1024)[0]
    assert (grouped.rows, grouped.columns) == (8, 8)
    assert grouped.distinct_bytes < first.distinct_bytes and grouped.hit_rate > first.hit_rate


@pytest.mark.parametrize("order", ORDERS)
def test_no_full_wave_beats_the_best_rectangle(order):
    for tiles_m, tiles_n, at_once in ((16, 16, 40), (9, 14, 30), (32, 8, 108)):
        least = least_bytes(at_once, tiles_m, tiles_n, (128, 128), 64)
        for wave in waves(block_order(order, tiles_m, tiles_n, 6), at_once, (128, 128), 64):
            assert wave.distinct_bytes >= least or wave.blocks < at_once
            assert wave.distinct_bytes <= wave.read_bytes
        total = sum(w.blocks for w in waves(block_order(order, tiles_m, tiles_n), at_once, (128, 128), 64))
        assert total == tiles_m * tiles_n


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: block_order("spiral", 4, 4), "grouped"),
        (lambda: block_order("row", 0, 4), "at least 1"),
        (lambda: block_order("row", 2**31, 8), "is the limit"),
        (lambda: block_order("row", 1.5, 8), "a whole number"),
        (lambda: waves(block_order("row", 2, 2), 0, (1, 1), 1), "At least one block"),
    ],
)
def test_bad_input(make, said):
    with pytest.raises(SimulatorError, match=said):
        make()
