"""The swizzle explorer's Python side: state, refusals and words."""

import pytest

import gemm_lab as lab
from gemm_lab.notebook.widgets import modules
from gemm_lab_lessons.ch05 import swizzle_explorer
from gemm_lab_lessons.ch05.swizzle_explorer import SwizzleExplorer
from gemm_results.errors import LabError
from gpu_simulator.errors import SimulatorError


def test_the_story_in_numbers():
    w = lab.swizzle()
    assert (w.wavefronts, w.ideal, w.whole_tile) == (32, 4, (512, 64))
    w.set(layout="xor")
    assert (w.wavefronts, w.whole_tile) == (4, (64, 64)) and w.scheme == "xor"
    w.set(layout="padded", pad_bytes=16)
    assert w.wavefronts == 4 and w.tile.size_bytes == 64 * 144
    w.set(layout="plain", access="cp.async", step=7)
    assert w.lanes.kind == "cp.async.cg" and w.wavefronts == 4
    toy = lab.swizzle(4, 16, element="f32", banks=4, access="column load")
    assert toy.wavefronts == 4 and toy.change(layout="xor").wavefronts == 1


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"rows": 20}, "multiple of 16"),
        ({"row_bytes": 100}, "steps of 16"),
        ({"layout": "spiral"}, "tma128"),
        ({"element": "f12"}, "bf16"),
        ({"layout": "swizzle", "row_bytes": 64}, "leave their row"),
        ({"layout": "padded", "pad_bytes": 8}, "misaligned"),
        ({"step": 16}, "0 to 15"),
        ({"colour": 3}, "no choice “colour”"),
        ({"selected": [64, 0]}, "no byte 0 in row 64"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(values, said):
    w = lab.swizzle()
    before = w.get_state()
    with pytest.raises(SimulatorError, match=said):
        w.set(**values)
    with pytest.raises(SimulatorError, match=said):
        w.change(**values)
    with pytest.raises(SimulatorError, match=said):
        SwizzleExplorer(**values)
    assert w.get_state() == before


def test_one_attribute_at_a_time_is_checked_too():
    w = lab.swizzle(layout="xor", step=15)
    with pytest.raises(SimulatorError, match="no XOR"):
        w.row_bytes = 96
    assert w.row_bytes == 128 and w.step == 15
    w.rows = 16
    assert w.step == 0, "a step that is gone goes back to the first"
    with pytest.raises(SimulatorError, match="0 to 3"):
        w.step = 4


def test_modules_are_joined_into_one():
    text = modules.esm(swizzle_explorer.__file__)
    assert "import " not in text.replace("// ", "") and text.count("export default") == 1
    assert text.index("const banks_module") < text.index("const tile_module") < text.index("export default")


def test_words_for_people_without_a_browser():
    text = str(lab.swizzle(layout="xor"))
    assert "64 rows × 128 bytes of f16, XOR, Swizzle(3, 4, 3), ldmatrix.x4 of rows 0–15, columns 0–15" in text
    assert text.endswith(": 4 wavefronts, ideal 4")


def test_a_question_is_not_given_away():
    w = lab.swizzle(predict=True)
    assert "how many wavefronts" in str(w) and "32" not in str(w)
    w.answer = 8
    assert "32 wavefronts" in str(w)


def test_the_layout_can_be_assigned_by_the_name_that_swizzle_takes():
    tile = lab.swizzle(rows=64, row_bytes=128)
    tile.layout = "xor"
    assert tile.scheme == "xor" and tile.wavefronts == tile.ideal
    with pytest.raises(SimulatorError, match="There is no layout “spiral”"):
        tile.layout = "spiral"


def test_a_change_makes_another_explorer_and_leaves_the_shown_one():
    shown = lab.swizzle(rows=4, row_bytes=16, element="f32", banks=4, access="column load", predict=True)
    shown.answer = 4
    before = shown.get_state()
    other = shown.change(access="row store")
    assert (other.wavefronts, shown.wavefronts) == (1, 4) and other.banks == 4 and other.answer is None
    assert other is not shown and shown.get_state() == before
    late = lab.swizzle(access="cp.async", step=7)
    assert late.change(access="column load", element="f32", rows=16).step in (0, 7)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("rows", "sixty-four", "rows must be a whole number"),
        ("rows", 64.5, "rows must be a whole number"),
        ("access", 3, "access must be a text in quotes"),
        ("predict", "yes", "predict must be True or False"),
        ("selected", 5, "selected must be a list of whole numbers"),
        ("selected", ["a", 0], "selected must be a list of whole numbers"),
    ],
)
def test_a_wrong_type_set_later_gets_a_sentence(name, value, said):
    w = lab.swizzle()
    before = getattr(w, name)
    with pytest.raises(LabError, match=said):
        setattr(w, name, value)
    assert getattr(w, name) == before
