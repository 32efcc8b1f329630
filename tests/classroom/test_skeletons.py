"""What is handed out: the real region with its key lines removed, so that a solution is the skeleton plus lines."""

from collections import Counter

import pytest

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_lab.notebook.exercises import exercises
from gemm_lab_classroom import skeletons
from gemm_lab_classroom.skeletons import BEGIN, END, code_lines, marked_solution, skeleton, solution
from gemm_results.errors import LabError

KERNELS = sorted(name for name, task in exercises().items() if task.judge == "kernel")


def without_marked(text):
    """A marked solution without what is between its marks, and without the marks alone."""
    kept, all_lines, inside = [], [], False
    for line in text.split("\n"):
        if line.strip() in (BEGIN, END):
            assert inside == (line.strip() == END), "marks do not nest"
            inside = not inside
        else:
            all_lines.append(line)
            kept += [] if inside else [line]
    assert not inside
    return "\n".join(kept), "\n".join(all_lines)


@pytest.mark.parametrize("name", KERNELS)
def test_the_solution_is_the_skeleton_plus_lines(name):
    if skeletons.is_rewritten(name, skeleton(name)):
        assert name in ("00_coalesce", "06_addresses")
        return
    ours, theirs = code_lines(solution(name)), code_lines(skeleton(name))
    assert skeletons.only_adds_lines(name, skeleton(name)) and len(ours) > len(theirs)
    assert "Your turn" in skeleton(name), "it says what is missing where it is missing"


@pytest.mark.parametrize("name", KERNELS)
def test_the_marked_solution_is_both(name):
    rest, whole = without_marked(marked_solution(name, skeleton(name)))
    assert code_lines(whole) == code_lines(solution(name))
    assert skeletons.is_rewritten(name, skeleton(name)) or rest == skeleton(name)


def test_a_solution_that_changes_a_line_is_seen(monkeypatch):
    monkeypatch.setattr(skeletons, "solution", lambda name: solution(name).replace("BLOCK_K / 8", "8"))
    assert not skeletons.only_adds_lines("06_swizzle", skeleton("06_swizzle"))
    with pytest.raises(LabError, match="neither its skeleton plus lines"):
        skeletons.marked_solution("06_swizzle", skeleton("06_swizzle"))


def test_an_exercise_without_a_cell_is_a_sentence():
    with pytest.raises(LabError, match="No notebook hands out 12_nothing"):
        skeleton("12_nothing")


def test_every_notebook_from_02_on_has_exercises_and_kernels_are_edited_in_twenty():
    edited = Counter(name[:2] for name in KERNELS)
    notebooks = {path.name[:2] for path in data_dir("notebooks").glob("*.ipynb")} - {"00", "01", "12"}
    assert notebooks <= set(edited), f"no exercise with a kernel in {sorted(notebooks - set(edited))}"
    assert sum(count for notebook, count in edited.items() if notebook >= "02") >= 20


@pytest.mark.parametrize("name", KERNELS)
def test_the_cell_of_the_notebook_is_about_the_region_of_the_exercise(name):
    from gemm_lab import catalog
    from gemm_lab.notebook.cells import parse_line

    handout, wanted = skeletons.all_handouts()[name], lab.exercise(name).criteria
    line = parse_line(handout.line.removeprefix("%%kernel "))
    assert (catalog.kernel(line.name).name, line.region) == (wanted["kernel"], wanted["region"])
