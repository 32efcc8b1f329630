"""What the recorder keeps of a live widget: a screenshot and its words, never the view."""

from base64 import b64decode
from io import BytesIO

import nbformat
import pytest
from PIL import Image

from gemm_lab.notebook.widgets.asleep import VIEW
from tools import widget_pictures
from tools.run_notebooks import execute, main, without_picture
from tools.widget_page import CHROMIUM


def stored(tmp_path, *cells):
    path = tmp_path / "book.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells]), path)
    failure = execute(path, path, store=True, limit_s=240)
    return failure, nbformat.read(path, as_version=4)


SWIZZLE = "import gemm_lab as lab\nlab.swizzle(layout='xor')"


@pytest.mark.skipif(not CHROMIUM, reason="there is no chromium here; on Debian: apt install chromium")
def test_the_screenshot_takes_the_place_of_the_view(tmp_path):
    failure, book = stored(tmp_path, SWIZZLE, "print(lab.swizzle().wavefronts)")
    assert failure is None and "widgets" not in book.metadata
    beside, view = book.cells[0].outputs
    assert "Run All Above Selected Cell" in beside.data["text/html"], "says that the picture is one"
    assert (
        VIEW not in view.data and "Swizzle(3, 4, 3)" in view.data["text/plain"] and len(view.data["image/png"]) < 60_000
    )
    with Image.open(BytesIO(b64decode(view.data["image/png"]))) as picture:
        assert picture.width == 800 and picture.mode == "P"

    # ---- Only the pictures anew: what was recorded elsewhere stays ----
    path, made = tmp_path / "book.ipynb", dict(view.data)
    view.data["image/png"], view.data["text/plain"], book.cells[1].outputs[0].text = "AA==", "old", "recorded elsewhere"
    nbformat.write(book, path)
    assert main([str(path), "--store-pictures"]) == 0
    renewed = nbformat.read(path, as_version=4)
    assert renewed.cells[0].outputs[1].data == made and renewed.cells[0].outputs[0] == beside
    assert renewed.cells[1] == book.cells[1]
    renewed.cells[0].outputs[0].data["text/plain"] = "The zoom."
    assert widget_pictures.renew(renewed, renewed) == [], "nothing is executed here, so nothing is a view"


def test_without_a_browser_a_widget_is_not_stored_and_other_notebooks_are(tmp_path, monkeypatch):
    monkeypatch.setattr(widget_pictures, "CHROMIUM", None)
    failure, book = stored(tmp_path, SWIZZLE)
    assert "apt install chromium" in str(failure) and book.cells[0].outputs == []
    assert stored(tmp_path, "1 + 1")[0] is None


def test_a_widget_without_a_picture_is_found():
    def cell(source, **data):
        output = nbformat.v4.new_output("display_data", data)
        return nbformat.v4.new_code_cell(source, outputs=[output])

    view = {VIEW: {"model_id": "1"}, "text/plain": "a slider"}
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
