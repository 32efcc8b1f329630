"""The tile walk's Python side: what it replays, the step of its picture, and what it refuses."""

import numpy as np
import pytest

from gemm_lab.notebook import widgets
from gemm_lab.notebook.puzzle import puzzle
from gemm_lab_lessons.ch02.counted_matrix import count
from gemm_results.errors import LabError
from gpu_simulator.errors import SizeError

SIZE, TILES = (8, 16, 4), ((4, 8, 4), (2, 8, 2), (2, 2))


@pytest.fixture
def nine():
    return widgets.tile_walk(puzzle("02_nine_loops").solution(), *SIZE, *TILES)


def test_the_browser_gets_every_step_and_the_counts_of_the_function(nine):
    moved = count(puzzle("02_nine_loops").solution(), *SIZE, *TILES)
    assert nine.steps[-1][11:15] == [moved.dram, moved.shared, moved.registers, moved.multiply_adds]
    assert [name for name, _ in nine.paces] == ["block tile", "warp tile", "thread tile", "step"]
    assert nine.pace == "block tile" and nine.wrong == "" and nine.size == [8, 16, 4]
    assert nine.title == "nine_loops(A, B, D, (4, 8, 4), (2, 8, 2), (2, 2))"
    assert "d[m : m + TM, n : n + TN] += column * row" in nine.lines


def test_it_opens_at_its_first_step_and_its_picture_shows_one_where_every_level_holds_a_tile(nine):
    assert nine.step == 0 and nine.now.kind == "copy"
    assert nine.text.endswith("step 0 of 427: DRAM 16, shared memory 0, registers 0, multiply-adds 0")
    nine.step = nine.pictured["step"]
    assert nine.now.kind == "multiply" and 0 < nine.step < len(nine.steps) // 2
    assert all(nine.now.counters)


def test_plain_loops_show_elements_of_d():
    walk = widgets.tile_walk(puzzle("02_naive").solution(), 4, 4, 4)
    assert walk.paces[0][0] == "element of D" and walk._steps[walk.pictured["step"]].kind == "write"


def test_a_wrong_product_is_shown_with_what_is_wrong():
    def half(A, B, D, T):
        for i in range(0, D.rows, 2):
            D[i, 0] = A[i, 0] * B[0, 0]

    walk = widgets.tile_walk(half, 4, 4, 4, T=2)
    assert walk.title == "half(A, B, D, T=2)" and "was never stored" in walk.wrong and walk.wrong in walk.text


def test_a_function_that_stops_is_shown_up_to_there():
    def beyond(A, B, D):
        for i in range(9):
            D[i, 0] = A[i, 0] * B[0, 0]

    walk = widgets.tile_walk(beyond, 4, 4, 4)
    assert walk.wrong.startswith("It stopped here: There is no A[4, 0]") and len(walk.steps) == 8


def test_rows_that_lie_apart():
    def strided(A, B, D):
        a, b = A[0:4, 0:2][0:4, 0:2], B[0:2, 0:4][0:2, 0:4]
        d = np.zeros((4, 4), int)
        for t in range(2):
            for k in range(2):
                d[t::2, t::2] += a[t::2, k] * b[k, t::2]
        D[0:4, 0:4] = d

    walk = widgets.tile_walk(strided, 4, 4, 2)
    assert next(sent[4:7] for sent, step in zip(walk.steps, walk._steps, strict=True) if step.rows.step > 1) == [
        0,
        4,
        2,
    ]


def test_a_bad_attribute_changes_nothing(nine):
    before = nine.step, nine.pace
    for name, value in (("step", -1), ("step", 10**6), ("pace", "grid")):
        with pytest.raises(LabError, match="There is no"):
            setattr(nine, name, value)
    assert (nine.step, nine.pace) == before


def test_what_cannot_be_shown_is_refused():
    with pytest.raises(LabError, match="nothing to see"):
        widgets.tile_walk(lambda A, B, D: None, 4, 4, 4)
    with pytest.raises(LabError, match="takes a function of A, B and D first"):
        widgets.tile_walk(4, 4, 4, 4)
    with pytest.raises(SizeError, match="too large for a picture"):
        widgets.tile_walk(puzzle("02_naive").solution(), 65, 1, 1)
    with pytest.raises(SizeError):
        widgets.tile_walk(puzzle("02_naive").solution(), 0, 1, 1)
