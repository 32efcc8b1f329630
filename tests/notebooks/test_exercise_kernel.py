"""The card of a kernel exercise shows the whole kernel around its region, and never the solution."""

import re
from html import unescape

import pytest

from classroom.skeletons import all_handouts
from gemm_lab.lab import kernel
from gemm_lab.notebook.exercise_kernel import MISSING, handed_out, kernel_of_exercise
from gemm_lab.notebook.exercises import exercises

KERNELS = [task for task in exercises().values() if task.judge == "kernel"]


@pytest.mark.parametrize("task", KERNELS, ids=lambda task: task.name)
def test_the_region_is_lit_with_the_text_and_the_numbers_of_the_cell(task):
    page = task._repr_html_()
    handout = all_handouts()[task.name].text.split("\n")
    lit = [unescape(text) for text in re.findall(r"<mark [^>]*>(.*?)</mark>", page)]
    assert lit == [f"▶ {number:>3}  {line}" for number, line in enumerate(handout, 2)]
    outside = kernel(task.criteria["kernel"]).spec
    region = outside.regions[task.criteria["region"]]
    text = unescape(re.sub("<[^>]*>", "", page))
    assert outside.source.split("\n")[region.last_line + 1] in text, "the lines below the region are there too"
    assert page.count("<details") == 2, "the kernel and the hint are folded"


def test_an_exercise_about_numbers_has_no_kernel():
    assert "▶" not in exercises()["01_block_tile"]._repr_html_()


def test_without_a_notebook_the_solution_is_not_shown():
    assert handed_out("99_none") == (None, "")
    made = kernel_of_exercise("99_none", {"kernel": "t4/06_double_buffered", "region": "store"})
    assert MISSING in made.source and made.spec.regions["store"].text not in made.source
