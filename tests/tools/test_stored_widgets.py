"""What the recorder keeps of a live widget: its picture and its words, never the view."""

from base64 import b64decode

import nbformat
import pytest

from tools.run_notebooks import WIDGET_VIEW, execute, without_picture


def stored(tmp_path, *cells):
    path = tmp_path / "book.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells]), path)
    failure = execute(path, path, store=True, limit_s=240)
    return failure, nbformat.read(path, as_version=4)


@pytest.mark.long
def test_the_picture_takes_the_place_of_the_view(tmp_path):
    failure, book = stored(
        tmp_path,
        "import gemm_lab as lab\nfrom gemm_lab.notebook import widgets",
        "lab.swizzle(layout='xor')",
        "widgets.fragments()",
    )
    assert failure is None and "widgets" not in book.metadata
    for cell, words in zip(book.cells[1:], ("Swizzle(3, 4, 3)", "lane 5 holds"), strict=True):
        beside, view = cell.outputs
        assert "Run All Above Selected Cell" in beside.data["text/html"], "says that the picture is one"
        data = view.data
        assert WIDGET_VIEW not in data and words in data["text/plain"]
        assert b64decode(data["image/png"])[:4] == b"\x89PNG"


def test_a_widget_without_a_picture_is_found():
    def cell(source, **data):
        output = nbformat.v4.new_output("display_data", data)
        return nbformat.v4.new_code_cell(source, outputs=[output])

    view = {WIDGET_VIEW: {"model_id": "1"}, "text/plain": "a slider"}
    good = [cell("first", **view, **{"image/png": "AA=="}), cell("second", **view, **{"text/html": "<p>"}), cell("x")]
    assert without_picture(nbformat.v4.new_notebook(cells=good)) is None
    assert without_picture(nbformat.v4.new_notebook(cells=[*good, cell("slider()\nmore", **view)])) == (4, "slider()")


def test_a_progress_bar_needs_no_picture_and_is_not_kept(tmp_path):
    bar = "from tqdm.notebook import tqdm\nbar = tqdm(total=2)\nbar.update(2), bar.close()\n'timed'"
    failure, book = stored(tmp_path, bar)
    assert failure is None
    assert [output.data["text/plain"] for output in book.cells[0].outputs] == ["'timed'"]


def test_a_slider_of_ones_own_is_no_progress_bar(tmp_path):
    failure, _ = stored(tmp_path, "import ipywidgets\nipywidgets.HBox([ipywidgets.IntSlider()])")
    assert "picture" in str(failure)
