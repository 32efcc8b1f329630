"""Model, simulator and hardware side by side: the notebooks' table."""

import dataclasses

import pytest

from gemm_lab_lessons.ch04.kernel_counts import KernelCount, KernelCounts
from gemm_lab_lessons.shared import three_counts as module
from gemm_lab_lessons.shared.three_counts import ThreeCounts, three_counts
from gemm_look import theme
from gemm_results.errors import LabError


@pytest.mark.sampled(every=6)
@pytest.mark.parametrize(
    "instruction", ["ld.shared.u32", "ld.shared.v4.u32", "st.shared.v2.u32", "ldmatrix.x2", "stmatrix.x4"]
)
def test_every_recording_agrees(instruction):
    counts = three_counts(instruction)
    number = len(counts.rows)
    assert counts.agreeing == number >= 95
    assert f"agree on {number} of {number}" in repr(counts) and "<table" not in counts._repr_html_()


def test_what_is_asked_for_is_shown_in_order():
    counts = three_counts(["ldmatrix.x4", "cp.async.cg.16"], "144-byte rows, padded, rows", "128-byte rows, xor, rows")
    assert [(row.instruction, row.hardware) for row in counts.rows] == [
        ("ldmatrix.x4", 4),
        ("ldmatrix.x4", 4),
        ("cp.async.cg.16", 10),
        ("cp.async.cg.16", 4),
    ]
    page = counts._repr_html_()
    assert "NVIDIA H200" in page and "Nsight Compute" in page and "144-byte rows" in page


@pytest.mark.long
def test_a_pattern_that_waits_for_its_recording_is_no_disagreement(monkeypatch):
    counts = three_counts("cp.async.cg.16.some")
    assert counts.agreeing == len(counts.rows)
    first, *rest = counts.rows
    left = {key: number for key, number in module.counted().items() if key[:2] != (first.instruction, first.pattern)}
    monkeypatch.setattr(module, "counted", lambda: left)
    module._recordings.cache_clear()
    assert len(three_counts("cp.async.cg.16.some").rows) == len(rest)
    with pytest.raises(LabError, match="was not recorded with"):
        three_counts(first.instruction, first.pattern)
    module._recordings.cache_clear()


def test_the_counts_are_taken_anew(monkeypatch):
    monkeypatch.setattr(module, "modelled", lambda recording: 7)
    assert not three_counts("ld.shared.u32", "stride 1").rows[0].agree


def test_a_disagreement_is_said_and_coloured():
    good = three_counts("ld.shared.u32", "stride 2")
    bad = ThreeCounts([dataclasses.replace(good.rows[0], simulator=3)], good.source)
    assert "agree on 0 of 1" in repr(bad)
    assert f"border-left:4px solid {theme.BAD}" in bad._repr_html_()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("ldmatrix.x3",), "“ldmatrix.x4”"),
        (("ldmatrix.x4", "stride 99"), "“stride 9”"),
    ],
)
def test_what_was_not_recorded_names_what_was(asked, says):
    with pytest.raises(LabError, match=says):
        three_counts(*asked)


def test_a_count_of_a_kernel_that_differs_is_coloured():
    page = KernelCounts([KernelCount("k", 1, 10, 20, 21)], 512)._repr_html_()
    assert theme.BAD in page and "NVIDIA H200" in page
    assert "not recorded" in repr(KernelCounts([KernelCount("k", 1, 10, 20, None)], 512))
