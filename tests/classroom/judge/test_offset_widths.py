"""Offsets that 32 bits do not hold at large sizes are found at small ones, and right offsets are left alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemm_lab.catalog import kernels
from gemm_lab.lab import kernel
from gemm_lab.notebook.exercises import exercise, kernel_of
from gemm_lab_classroom.judge.offset_widths import narrow_offset

WRONG = Path(__file__).parents[2] / "attacks" / "answers" / "wrong"


def said(rung) -> str:
    return narrow_offset(rung, rung.compile_as_taught())


def answer(name: str, text: str):
    """The kernel with an answer, compiled as the judge does it."""
    asked = exercise(name)
    base = kernel(asked.criteria["kernel"])
    return replace(kernel_of(asked, text), config=base.spec.configure(), simulated_arch=asked.criteria.get("arch"))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("name", "file", "where"),
    [
        ("06_epilogue", "06_epilogue_offset_of_a_row_in_32_bits.cu", "Line 2"),
        ("06_addresses", "06_addresses_the_step_of_b_adds_up_in_32_bits.cu", "line "),
        ("06_prefetch", "06_prefetch_offset_of_a_row_in_32_bits.cu", "line "),
    ],
)
def test_offsets_in_32_bits(name, file, where):
    found = said(answer(name, (WRONG / file).read_text(encoding="utf-8")))
    assert "computed in 32 bits" in found and where in found and "size_t(row) * N" in found


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("name", kernels())
def test_every_kernel_of_the_catalogue_is_right_at_the_largest_sizes(name):
    assert said(kernel(name)) == ""
