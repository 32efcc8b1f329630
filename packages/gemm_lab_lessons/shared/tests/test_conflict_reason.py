"""A refusal for bank conflicts names the line, the array and the lanes, and leaves the cure to the learner."""

import re

import pytest

from gemm_lab.notebook.exercises import WrongAnswer, exercise, kernel_of
from gemm_lab.notebook.judges.conflict_reason import dearest_conflict


def test_a_conflict_names_its_line_array_and_lanes_and_no_cure():
    task = exercise("06_swizzle")
    right = (task.room.folder / "solutions" / "06_swizzle.cu").read_text()
    with pytest.raises(WrongAnswer) as refused:
        task.check(kernel_of(task, right.replace("row % 8", "row % 4")))
    listing = enumerate(kernel_of(task, right).spec.source.split("\n"), 1)
    line = next(number for number, text in listing if "ldmatrix_x4(" in text)
    said = str(refused.value).partition("1 is possible. ")[2]
    assert said.startswith(f"02_vectorized_copy.cu, line {line}, costs most, in smem_a. ")
    assert "so lanes 0, 4 need 2 different words of bank 0" in said and "8 wavefronts for one access" in said
    assert not re.search("XOR|swizzle|pad", said)
    assert dearest_conflict(kernel_of(task, right).run(256, backend="simulator")) == ""
