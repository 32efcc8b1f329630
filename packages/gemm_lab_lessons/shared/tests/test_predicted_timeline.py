"""The view of a predicted timeline: what it is sent is what was predicted, and what does not exist is refused."""

import pytest

import gemm_lab as lab
from gemm_lab.notebook import widgets
from gemm_results.errors import LabError
from gpu_simulator.errors import ConfigError


@pytest.fixture(scope="module")
def found():
    return lab.kernel("ampere/04_swizzled").predicted_timeline(n=1024)


@pytest.fixture
def view(found):
    return found.view


def test_every_issue_in_the_cycles_is_sent(found, view):
    sent = found.run.between(view.origin, view.origin + view.length)
    assert len(view.issues) == len(sent.issues)
    assert [one[0] + view.origin for one in view.issues] == pytest.approx([one.cycle for one in sent.issues], abs=0.01)
    waits = sum(cycles for one in view.issues for cycles in one[4::2])
    assert waits == pytest.approx(sum(cycles for one in sent.issues for _, cycles in one.waits))


def test_instructions_name_lines_of_the_learners_source(view):
    lines = lab.kernel("ampere/04_swizzled").source.split("\n")
    for _, kind, number, text in view.code:
        assert kind in view.colours
        assert not text or text == lines[number - 1].strip()


def test_reasons_have_the_colours_and_names_of_the_profile_cards(view):
    assert view.reasons["barrier"] == ["barrier", "the other warps of the block at __syncthreads"]
    assert {label for label, _ in view.reasons.values()} <= set(view.colours)


def test_kernels_without_tensor_cores_show_the_fp32_units():
    view = lab.kernel("simt/06_wide_loads").predicted_timeline(n=512).view
    assert [name for name, part, _ in view.strips if part >= 0] == ["FP32 units"] * 4
    assert any(intervals for _, part, intervals in view.strips if part >= 0)


def test_many_warps_are_shown_by_one_sub_partition():
    view = lab.kernel("simt/01_naive").predicted_timeline(n=256).view
    assert len(view.warps) > 24 and view.part == 0


def test_the_text_is_a_prediction(view):
    assert "predicted" in view.text and "not measured" in view.text and "\n" not in view.text


@pytest.mark.parametrize("part", [-2, 4])
def test_a_sub_partition_that_does_not_exist_is_refused(view, part):
    with pytest.raises(LabError, match="0 to 3"):
        view.part = part
    assert view.part == -1


def test_only_a_prediction_can_be_shown():
    with pytest.raises(ConfigError, match="PredictedTimeline"):
        widgets.predicted_timeline(lab.kernel("t4/03_swizzled"))
