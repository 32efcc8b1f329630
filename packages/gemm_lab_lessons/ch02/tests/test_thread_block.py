"""Threads as generators: barriers order them, and a missing one is a race in every order."""

import pytest

from gemm_lab_lessons.ch02.counted_matrix import TileError
from gemm_lab_lessons.ch02.thread_block import Race, SharedTile, run_block


def tile():
    return SharedTile("a", 2, 2)


def neighbours(row, col, a, sums):
    """Each thread stores one element and, behind the barrier, adds up its row."""
    a[row, col] = 10 * row + col
    yield
    sums[row, col] = a[row, 0] + a[row, 1]


@pytest.mark.parametrize("seed", range(5))
def test_a_barrier_lets_threads_read_what_others_stored(seed):
    sums = {}
    assert run_block(neighbours, 2, 2, tile(), sums, seed=seed) == 1
    assert sums == {(0, 0): 1, (0, 1): 1, (1, 0): 21, (1, 1): 21}


def test_without_it_there_is_a_race_in_every_order():
    def hasty(row, col, a, sums):
        a[row, col] = 1
        sums[row, col] = a[row, 0] + a[row, 1]

    for seed in range(10):
        with pytest.raises(Race, match="with no yield between the two"):
            run_block(hasty, 2, 2, tile(), {}, seed=seed)


def test_storing_over_what_others_still_read_is_a_race():
    def loop(row, col, a, sums):
        for turn in range(2):
            a[row, col] = turn
            yield
            sums[row, col] = a[row, 0] + a[row, 1]

    for seed in range(10):
        with pytest.raises(Race):
            run_block(loop, 2, 2, tile(), {}, seed=seed)


def test_two_stores_to_one_place():
    def both(row, col, a):
        a[0, 0] = row

    with pytest.raises(Race, match="stored there too"):
        run_block(both, 2, 1, tile())


def test_a_thread_may_use_its_own_element_without_a_barrier():
    def alone(row, col, a, sums):
        a[row, col] = 4
        a[row, col] = a[row, col] + 1
        sums[row, col] = a[row, col]

    sums = {}
    assert run_block(alone, 2, 2, tile(), sums) == 0 and set(sums.values()) == {5}


def test_threads_that_miss_a_barrier():
    def some(row, col, a):
        if row == 0:
            yield

    with pytest.raises(TileError, match="still waits at a yield") as caught:
        run_block(some, 2, 1, tile())
    assert "have to pass the same barriers" in str(caught.value)


def test_threads_that_never_end():
    def endless(row, col, a):
        while True:
            yield

    with pytest.raises(TileError, match="did not come to an end"):
        run_block(endless, 1, 1, tile())


@pytest.mark.parametrize("index", [0, (0, 2), (-1, 0), (slice(0, 2), 0), (0, 1.0)])
def test_elements_that_do_not_exist(index):
    with pytest.raises(TileError):
        tile()[index]
    with pytest.raises(TileError):
        tile()[index] = 1


def test_a_thread_returns_nothing():
    with pytest.raises(TileError, match="returns nothing"):
        run_block(lambda row, col: 3, 1, 1)
