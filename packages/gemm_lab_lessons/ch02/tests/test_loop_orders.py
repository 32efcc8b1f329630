"""Six loop orders: the same product, and the cache-line counts that follow from row-major storage."""

import numpy as np
import pytest

from gemm_lab_lessons.ch02.loop_orders import loop_orders
from gemm_results.errors import LabError

N, PER_LINE = 32, 8


@pytest.fixture(scope="module")
def orders():
    a, b = np.random.default_rng(0).integers(-4, 5, (2, N, N))
    found = loop_orders(a, b)
    assert all(np.array_equal(o.product, a @ b) for o in found.values())
    return found


def test_what_stays_in_a_register(orders):
    assert {name: o.in_register for name, o in orders.items()} == {
        "ijk": "C",
        "jik": "C",
        "ikj": "A",
        "kij": "A",
        "jki": "B",
        "kji": "B",
    }


def test_rows_and_columns(orders):
    assert orders["ikj"].along_rows == ("B", "C") and orders["ikj"].down_columns == ()
    assert orders["ijk"].along_rows == ("A",) and orders["ijk"].down_columns == ("B",)
    assert orders["jki"].along_rows == () and orders["jki"].down_columns == ("A", "C")


def test_lines_fetched(orders):
    """A walk along rows fetches a line for 8 elements, a walk down columns one for each."""
    assert orders["ijk"].lines == {"A": N**3 // PER_LINE, "B": N**3, "C": N**2}
    assert orders["ikj"].lines == {"A": N**2 // PER_LINE, "B": N**3 // PER_LINE, "C": N**2 // PER_LINE}
    assert orders["kij"].lines == {"A": N**2, "B": N**2 // PER_LINE, "C": N**3 // PER_LINE}
    assert orders["jki"].lines == {"A": N**3, "B": N**2, "C": N**3}


def test_j_innermost_is_best_and_i_innermost_worst(orders):
    total = {name: o.lines_total for name, o in orders.items()}
    assert max(total["ikj"], total["kij"]) < min(total["ijk"], total["jik"])
    assert max(total["ijk"], total["jik"]) < min(total["jki"], total["kji"])


def test_a_register_saves_accesses(orders):
    for order in orders.values():
        assert order.accesses[order.in_register] == N**2
        assert sum(order.accesses.values()) == 2 * N**3 + N**2


def test_in_a_large_cache_every_order_fetches_each_line_once():
    a, b = np.ones((2, 16, 16))
    for order in loop_orders(a, b, cache_lines=3 * 16 * 2).values():
        assert order.lines == {"A": 32, "B": 32, "C": 32}


def test_rectangles():
    a, b = np.arange(12).reshape(3, 4), np.arange(20).reshape(4, 5)
    assert all(np.array_equal(o.product, a @ b) for o in loop_orders(a, b).values())


@pytest.mark.parametrize("wrong", [{"cache_lines": 0}, {"line_bytes": 60}, {"element_bytes": 0}])
def test_impossible_caches(wrong):
    with pytest.raises(LabError):
        loop_orders(np.ones((2, 2)), np.ones((2, 2)), **wrong)
