"""Offsets that 32 bits do not hold at large sizes are found at small ones, and right offsets are left alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from gemm_lab.catalog import kernels, tomllib
from gemm_lab.lab import kernel
from gemm_lab.notebook.exercises import exercise, kernel_of
from gemm_lab_classroom.judge.offset_widths import narrow_offset
from tools.wrong_answers import altered

ANSWERS = tomllib.loads((Path(__file__).parents[2] / "attacks" / "answers.toml").read_text(encoding="utf-8"))


def said(rung) -> str:
    return narrow_offset(rung, rung.compile_as_taught())


def answer(name: str, text: str):
    """The kernel with an answer, compiled as the judge does it."""
    asked = exercise(name)
    base = kernel(asked.criteria["kernel"])
    return replace(kernel_of(asked, text), config=base.spec.configure(), simulated_arch=asked.criteria.get("arch"))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(("name", "where"), [("06_epilogue", "Line 2"), ("06_prefetch", "line ")])
def test_offsets_in_32_bits(name, where):
    entries = [one for kind in ANSWERS.values() for one in kind if one["exercise"] == name]
    (entry,) = [one for one in entries if "in 32 bits" in one["what"]]
    found = said(answer(name, altered(name, entry)))
    assert "computed in 32 bits" in found and where in found and "size_t(row) * N" in found


@pytest.mark.sampled(every=16)
@pytest.mark.parametrize("name", kernels())
def test_every_kernel_of_the_catalogue_is_right_at_the_largest_sizes(name):
    assert said(kernel(name)) == ""
