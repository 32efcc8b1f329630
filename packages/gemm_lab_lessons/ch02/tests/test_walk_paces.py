"""The moments at which the tile walk stops."""

import pytest

from gemm_lab.notebook.puzzle import puzzle
from gemm_lab_lessons.ch02.counted_matrix import product_of
from gemm_lab_lessons.ch02.walk_paces import paces_of

SIZE = (16, 32, 8)


@pytest.fixture(scope="module")
def nine():
    product = product_of(*SIZE, record=True)
    puzzle("02_nine_loops").solution()(*product.matrices, (8, 16, 4), (4, 8, 2), (2, 4))
    return product.ledger


def test_paces_stop_where_a_pair_of_tiles_is_complete(nine):
    paces = {pace.name: pace.stops for pace in paces_of(nine.steps)}
    assert [len(stops) - 1 for stops in paces.values()] == [8, 64, 512, len(nine.steps) - 1]
    for level, name in enumerate(("block tile", "warp tile", "thread tile")):
        for stop in paces[name][:-1]:
            pair = nine.steps[stop - 1 : stop + 1]
            assert {(step.kind, step.matrix, step.level) for step in pair} == {
                ("copy", "A", level),
                ("copy", "B", level),
            }


def test_a_product_without_tiles_stops_at_elements_of_d():
    product = product_of(3, 4, 5, record=True)
    puzzle("02_naive").solution()(*product.matrices)
    element, step = paces_of(product.ledger.steps)
    assert (element.name, len(element.stops)) == ("element of D", 12) and len(step.stops) == 3 * 4 * 6
    assert all(product.ledger.steps[stop].kind == "write" for stop in element.stops)
