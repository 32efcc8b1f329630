"""What a picture of a product shows: held tiles, reads, sums, and the moments at which it stops."""

import numpy as np
import pytest

from gemm_lab.notebook.puzzle import puzzle
from gemm_lab_lessons.ch02.counted_matrix import product_of
from gemm_lab_lessons.ch02.traffic_ledger import REGISTERS, SHARED, WARP
from gemm_lab_lessons.ch02.walk_state import paces_of, state_at

SIZE = (16, 32, 8)


@pytest.fixture(scope="module")
def nine():
    product = product_of(*SIZE, record=True)
    puzzle("02_nine_loops").solution()(*product.matrices, (8, 16, 4), (4, 8, 2), (2, 4))
    return product.ledger


def test_the_end(nine):
    state = state_at(nine.steps, len(nine.steps) - 1, SIZE)
    assert state.stored.all() and (state.products == 8).all()
    assert (state.reads["A"] == 2).all() and (state.reads["B"] == 2).all()
    assert nine.steps[-1].counters == nine.counters


def test_tiles_lie_inside_each_other(nine):
    for number in range(0, len(nine.steps), 97):
        state = state_at(nine.steps, number, SIZE)
        for name in "AB":
            for inner, outer in ((REGISTERS, WARP), (WARP, SHARED)):
                small, large = state.held.get((name, inner)), state.held.get((name, outer))
                if small and large:
                    assert all(set(a) <= set(b) for a, b in zip(small, large, strict=True))
        for level in (SHARED, WARP, REGISTERS):
            if output := state.output(level):
                assert output == (state.held["A", level][0], state.held["B", level][1])
                assert state.held["A", level][1] == state.held["B", level][0]


def test_paces_stop_where_a_pair_of_tiles_is_complete(nine):
    paces = {pace.name: pace.stops for pace in paces_of(nine.steps)}
    assert [len(stops) - 1 for stops in paces.values()] == [8, 64, 512, len(nine.steps) - 1]
    for name, level in (("block tile", SHARED), ("warp tile", WARP), ("thread tile", REGISTERS)):
        for stop in paces[name][:-1:29]:
            assert state_at(nine.steps, stop, SIZE).output(level)


def test_a_product_without_tiles_stops_at_elements_of_d():
    product = product_of(3, 4, 5, record=True)
    puzzle("02_naive").solution()(*product.matrices)
    element, step = paces_of(product.ledger.steps)
    assert (element.name, len(element.stops)) == ("element of D", 12) and len(step.stops) == 3 * 4 * 6
    state = state_at(product.ledger.steps, element.stops[3], (3, 4, 5))
    assert np.array_equal(state.reads["A"][0], [4] * 5) and state.reads["B"].max() == 1 and state.held == {}
