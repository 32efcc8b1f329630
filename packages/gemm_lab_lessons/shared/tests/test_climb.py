"""The chart of a ladder that grows: which bars it has, how long they are, and which are lit."""

import re

import pytest

import gemm_lab as lab
from gemm_lab.notebook.exercises import exercises
from gemm_lab.notebook.remembered import solved
from gemm_lab.notebook.remembered.kept import Kept
from gemm_lab_lessons.shared.climb import BESIDE, LIT, OPEN, climb
from gemm_results.errors import LabError


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(solved, "_kept", Kept("solved.json"))


@pytest.fixture(scope="module")
def bench():
    return lab.ladder("t4").recorded([4096, 8192])


def test_it_has_the_rungs_so_far_and_no_later_one(bench):
    names = [bar.name for bar in climb(bench, "t4/03").bars]
    assert names[:3] == ["01_hierarchical_tiling", "02_vectorized_copy", "03_swizzled"]
    assert {*names[3:]} == {"CUTLASS sm75", "ceiling of its mma"} and "04" not in repr(climb(bench, "t4/03"))
    assert {"cuBLAS", "CUTLASS sm75"} < {bar.name for bar in climb(bench, "t4/03", cublas=True).bars}


def test_a_bar_is_as_long_as_its_speed_on_an_axis_that_begins_at_0(bench):
    chart = climb(bench, "t4/08")
    widths = [float(width) for width in re.findall(r"width:([\d.]+)em", chart._repr_html_())]
    speeds = [bar.tflops for bar in chart.bars]
    assert len(widths) == len(speeds) and speeds[0] == bench.tflops("t4/01", 8192)
    assert widths == pytest.approx([speed * 32 / max(speeds) for speed in speeds], abs=0.051)


def test_a_rung_is_lit_when_its_exercises_are_solved(bench):
    kinds = [bar.kind for bar in climb(bench, "t4/04").bars]
    assert kinds == [LIT, LIT, OPEN, OPEN, BESIDE, BESIDE], "01 and 02 have no exercise"
    assert "when you have solved 06_swizzle, 06_prefetch." in repr(climb(bench, "t4/04"))
    solved.remember("06_swizzle")
    assert [bar.kind for bar in climb(bench, "t4/04").bars][:4] == [LIT, LIT, LIT, OPEN]
    solved.remember("06_prefetch")
    assert "Open bars" not in repr(climb(bench, "t4/04"))


def test_what_an_exercise_earns_is_a_rung():
    earned = {name: task.criteria["earns"] for name, task in exercises().items() if "earns" in task.criteria}
    assert len(earned) == 13 and all(lab.kernel(rung).name == rung for rung in earned.values())


def test_a_rung_or_a_size_that_is_not_there_is_named(bench):
    with pytest.raises(LabError, match="is no rung of the ladder t4"):
        climb(bench, "ampere/01")
    with pytest.raises(LabError, match="There is no row for “t4/03” at 2048"):
        climb(bench, "t4/03", 2048)
