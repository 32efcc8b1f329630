"""The card of a kernel exercise shows the whole kernel around its region, and never the solution."""

import re
from html import unescape

import pytest

from gemm_lab.lab import kernel
from gemm_lab.notebook.cells import below, page_of, run_cell
from gemm_lab.notebook.exercise_kernel import MISSING, handed_out, kernel_of_exercise
from gemm_lab.notebook.exercises import exercises
from gemm_lab.notebook.later_exercises import later_than, later_than_cell
from gemm_lab_classroom.skeletons import all_handouts

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


def words_of(page):
    return unescape(re.sub("<[^>]*>", "", page))


@pytest.mark.parametrize("task", KERNELS, ids=lambda task: task.name)
def test_what_a_later_exercise_asks_for_is_left_out(task):
    text, spec = words_of(task._repr_html_()), kernel(task.criteria["kernel"]).spec
    for region, name in later_than(task.name).items():
        assert f"the exercise {name} asks for these lines" in text
        assert max(spec.regions[region].text.split("\n"), key=len).strip() not in text


def test_the_card_of_the_fragments_does_not_have_the_mma_and_that_of_the_mma_has_the_fragments():
    tasks = exercises()
    assert later_than("03_fragments") == {"multiply": "03_inline_ptx"}
    assert later_than("03_inline_ptx") == {} == later_than("99_none")
    assert "asm volatile" not in words_of(tasks["03_fragments"]._repr_html_())
    assert "__halves2half2" in words_of(tasks["03_inline_ptx"]._repr_html_())


def test_a_cell_before_an_exercise_shows_neither_the_answer_nor_its_costs():
    line = "simt/03_shared_memory_tiles --region load --as tiles -n 256 --no-speed"
    assert later_than_cell(line, "simt/03_shared_memory_tiles") == {"multiply": "02_inner_product"}
    assert later_than_cell("simt/03 --region load --as another", "simt/03_shared_memory_tiles") == {}
    run = run_cell(line, kernel("simt/03").spec.regions["load"].text, {})
    assert "acc +=" in run._repr_html_()
    text = words_of(page_of(run, line) + below(run, line))
    assert "acc +=" not in text and "the exercise 02_inner_product asks for these lines" in text
    assert "smem_b[i / BLOCK_N][i % BLOCK_N]" in text and "gmem_d[" in text
