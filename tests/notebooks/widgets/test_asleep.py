"""Beside every live view stands, in an output of its own, what it is and how to bring it back."""

from base64 import b64decode

import pytest

import gemm_lab as lab
from gemm_lab.notebook import widgets
from gemm_lab.notebook.widgets.asleep import ASLEEP, VIEW, _pictures, show_beside
from gemm_lab.notebook.widgets.picture import PicturedWidget
from gemm_lab_lessons.shared.choices import Choices


@pytest.fixture(autouse=True)
def own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.fixture
def outputs(monkeypatch):
    """A function that displays an object and returns its outputs."""
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))

    def display(thing):
        shown.clear()
        thing._ipython_display_()
        return list(shown)

    return display


MADE = {
    "swizzle explorer": lambda: lab.swizzle(rows=64, row_bytes=128),
    "swizzle puzzle": lambda: lab.swizzle_puzzle("toy"),
    "fragment map": lambda: widgets.fragments(),
    "mbarrier stepper": lambda: widgets.mbarrier(),
    "tile explorer": lambda: widgets.TileExplorer(),
    "order of the output tiles": lambda: widgets.block_order(2048, 4096, 1024, (256, 128), "t4", "grouped", 4),
    "predicted timeline": lambda: lab.kernel("ampere/04_swizzled").predicted_timeline(n=1024),
}


@pytest.mark.parametrize("name", MADE)
def test_a_widget_says_what_it_is_and_how_it_comes_back(outputs, name):
    made = MADE[name]()
    words, view = outputs(made)
    assert VIEW not in words and VIEW in view
    assert isinstance(made, Choices) or view.get("image/png", "") == _pictures().get(view["text/plain"], "")
    assert "\n" not in view["text/plain"] and len(view["text/plain"]) < 300
    assert name in words["text/html"] and "Run → Run All Above Selected Cell" in words["text/html"]
    assert f'class="{ASLEEP}"' in words["text/html"].partition(">")[2][:30]


def test_a_widget_of_the_series_brings_its_stored_picture(outputs):
    _, view = outputs(lab.swizzle(rows=4, row_bytes=16, element="f32", banks=4, access="column load"))
    assert b64decode(view["image/png"]).startswith(b"\x89PNG") and view["text/plain"].startswith(
        "Swizzle explorer: 4 ro"
    )
    assert "Swizzle explorer: 5 rows" not in _pictures() and 'image/png"' not in str(outputs(widgets.fragments())[0])


def test_every_widget_has_such_words():
    assert [getattr(widgets, name) for name in widgets.__all__]
    classes = [*PicturedWidget.__subclasses__(), *Choices.__subclasses__()]
    assert len(classes) >= len(widgets.__all__) and all(one.what.endswith(".") for one in classes)
    assert len({one.what for one in classes}) == len(classes)


@pytest.mark.parametrize("choices", [(), ["memory", "a < b"]])
def test_a_question_stands_beside_its_box_and_not_in_it(outputs, choices):
    asked = lab.guess("Is it < 8?", choices=choices, hint="Count.")
    words, view = outputs(asked)
    assert VIEW in view and "Is it &lt; 8?" not in view["text/html"] and "a picture of the box" in view["text/html"]
    assert words["text/html"].index("Is it &lt; 8?") < words["text/html"].index(ASLEEP), "the question is never hidden"
    assert "Run All Above" in words["text/html"] and "Is it < 8?" in words["text/plain"]
    assert all("Is it" not in str(getattr(part, "value", "")) for part in asked._widget().children)


def test_without_a_front_end_of_widgets_there_is_one_output(outputs, monkeypatch):
    monkeypatch.setattr("gemm_lab.notebook.guess.live", lambda box: {})
    (only,) = outputs(lab.guess("Is it 8?"))
    assert "Is it 8?" in only["text/html"] and "a picture of the box" in only["text/html"]
    monkeypatch.setattr("gemm_lab_lessons.shared.choices.live", lambda box: 1 / 0)
    (only,) = outputs(MADE["order of the output tiles"]())
    assert "image/png" in only and VIEW not in only


def test_what_is_no_view_gets_no_words(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: shown.append(data))
    show_beside({"text/plain": "x"}, "The box.")
    assert shown == [{"text/plain": "x"}]
