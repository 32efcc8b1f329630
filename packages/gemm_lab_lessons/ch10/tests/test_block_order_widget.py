"""The block order widget: its facts, its controls and its still picture."""

from base64 import b64decode

import pytest

import gemm_lab as lab
from gemm_lab.notebook import widgets
from gpu_simulator.errors import NotHere, SimulatorError


def test_facts_are_those_of_the_model():
    w = widgets.block_order(4096, 4096, 4096, (128, 128), "h100", "grouped", 8)
    wave = w.facts.waves[0]
    assert (wave.blocks, w.facts.tiles, len(w.facts.waves)) == (132, (32, 32), 8)
    assert w.facts.read == 32 * 32 * 256 * 4096 * 2
    assert w.facts.dram["grouped"] < w.facts.dram["row"] == w.facts.dram["column"]
    assert "132 tiles from 8 rows of A and 17 columns of B" in str(w)


@pytest.mark.long
def test_turning_a_control_moves_the_picture():
    w = widgets.block_order()
    box = w._widget()
    order, group_m, wave = box.children[0].children
    words, picture = box.children[3], box.children[4]
    before = picture.value
    order.value = "grouped"
    assert w.facts.order == "grouped" and "grouped by 8 rows" in words.value and picture.value != before
    wave.value = 31
    assert w.facts.wave == 7, "a wave that is not there becomes the last one"
    box.children[1].children[0].value = 1024
    assert w.facts.size == (1024, 1024, 1024) and w.facts.wave == 0


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"m": 1000}, "do not divide"),
        ({"order": "spiral"}, "row, column, grouped"),
        ({"gpu": "voodoo2"}, "known are"),
        ({"wave": 8}, "There are 8 waves"),
        ({"group_m": 0}, "at least 1"),
        ({"block": (0, 128)}, "do not divide"),
    ],
)
def test_what_does_not_exist_is_refused(values, said):
    with pytest.raises(SimulatorError, match=said):
        widgets.block_order(**values)


def test_the_still_picture():
    w = widgets.block_order(2048, 4096, 1024, (256, 128), "t4", "grouped", 4, wave=2)
    assert w.png() == w.png() == w._repr_png_() and len(w.png()) < 30_000


def test_a_stored_notebook_has_the_picture_as_a_picture(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    widgets.block_order(2048, 4096, 1024, (256, 128), "t4", "grouped", 4)._ipython_display_()
    words, data = shown
    assert "image/png" not in words and "order of the output tiles" in words["text/plain"]
    assert b64decode(data["image/png"])[:4] == b"\x89PNG" and "text/html" not in data
    assert "grouped by 4 rows" in data["text/plain"]


def test_where_nothing_can_be_drawn_the_words_are_shown(monkeypatch):
    def absent(*_):
        raise NotHere("no plots here")

    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, raw: shown.append(data))
    monkeypatch.setattr("gemm_lab_lessons.ch10.block_orders.picture", absent)
    widgets.block_order(2048, 2048, 2048)._ipython_display_()
    assert len(shown) == 1 and list(shown[0]) == ["text/plain"]
    pipeline = lab.kernel("hopper/02_tma").timeline()
    monkeypatch.setattr(type(pipeline), "plot", absent)
    assert pipeline._repr_png_() is None and "tensor cores busy" in repr(pipeline)
