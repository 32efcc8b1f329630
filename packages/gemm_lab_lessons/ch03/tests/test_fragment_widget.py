"""The fragment map's Python side: state, refusals and words."""

import pytest

from gemm_lab.notebook import widgets
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError


def test_what_a_lane_holds():
    w = widgets.fragments("m16n8k16", "bf16", lane=5)
    assert w.holds["a1"] == [(9, 2), (9, 3)] and w.holds["b1"] == [(10, 1), (11, 1)] and w.holds["c3"] == [(9, 3)]
    w.set(dtype="f16", accumulator="f16", lane=31)
    assert w.holds["c1"] == [(15, 6), (15, 7)] and w.load("A").opcode.startswith("ldmatrix.sync.aligned.m8n8.x4")
    w.set(dtype="f64", shape="m16n8k4")
    assert w.accumulator == "f64" and w.load("A") is None
    w.set(dtype="f16", shape="m16n8k16", stored="row-major")
    assert w.load("B").transposed


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"shape": "m16n8k32"}, "m16n8k8, m16n8k16"),
        ({"dtype": "f12"}, "tf32"),
        ({"lane": 32}, "0 to 31"),
        ({"accumulator": "f16"}, "adds up in f32"),
        ({"stored": "sideways"}, "row-major"),
        ({"size": 3}, "no choice “size”"),
        ({"dtype": "s8", "shape": "m16n8k32", "stored": "row-major"}, "16-bit"),
    ],
)
def test_what_does_not_exist_is_refused_and_changes_nothing(values, said):
    w = widgets.fragments()
    before = w.get_state()
    with pytest.raises(SimulatorError, match=said):
        w.set(**values)
    assert w.get_state() == before
    with pytest.raises(SimulatorError, match="0 to 31"):
        w.lane = 99
    assert w.lane == 5


def test_words_for_people_without_a_browser():
    text = str(widgets.fragments())
    assert "mma.sync.m16n8k16.f32.bf16, lane 5 holds a0 A[1, 2–3], a1 A[9, 2–3]" in text and "b0 B[2–3, 1]" in text


def test_the_map_can_leave_out_who_names_which_row():
    w = widgets.fragments("m16n8k16", "f16", stored="row-major", ldmatrix=False)
    assert w.load("A") is w.load("B") is None and w.holds["a0"] == [(1, 2), (1, 3)]
    assert w.change(ldmatrix=True).load("A") is not None
    with pytest.raises(LabError, match="ldmatrix must be"):
        w.set(ldmatrix="no")


def test_an_unknown_widget():
    with pytest.raises(AttributeError, match="swizzle, fragments"):
        widgets.slider  # noqa: B018


def test_a_change_makes_another_map_and_leaves_the_shown_one():
    shown = widgets.fragments("m16n8k16", "bf16", lane=5)
    other = shown.change(dtype="s8", shape="m16n8k32")
    assert (shown.dtype, shown.lane) == ("bf16", 5) and (other.dtype, other.accumulator, other.lane) == ("s8", "s32", 5)
    with pytest.raises(LabError, match="lanes 0 to 31"):
        shown.change(lane=32)


@pytest.mark.parametrize(("name", "value"), [("lane", "five"), ("dtype", 16), ("lane", None)])
def test_a_wrong_type_set_later_gets_a_sentence(name, value):
    with pytest.raises(LabError, match=f"{name} must be"):
        setattr(widgets.fragments(), name, value)
