"""`lab.figure`: a PNG that every viewer shows, a caption below it, and a plate that is legible on a dark page."""

from base64 import b64decode
from io import BytesIO

import pytest
from matplotlib.image import imread

import gemm_lab as lab
from gemm_lab.config import data_dir
from gemm_look import style
from gemm_results.errors import LabError

NAMES = sorted(path.stem for path in data_dir("images").glob("*.png"))


@pytest.fixture
def shown(monkeypatch):
    """A function of a thing: the data of the outputs that it displays."""
    outputs = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: outputs.append(data))

    def ask(thing):
        outputs.clear()
        thing._ipython_display_()
        return list(outputs)

    return ask


def test_a_figure_is_a_png_and_a_caption(shown):
    picture, caption = shown(lab.figure("padding", "A row of 128 bytes & 16 more"))
    assert b64decode(picture["image/png"])[:4] == b"\x89PNG" and "text/html" not in picture
    assert picture["text/plain"] == "[padding] A row of 128 bytes & 16 more"
    assert "A row of 128 bytes &amp; 16 more" in caption["text/html"] and "image/png" not in caption
    assert [list(data) for data in shown(lab.figure("padding"))] == [["image/png", "text/plain"]]
    (_, look) = lab.figure("padding", "A row")._repr_mimebundle_()
    assert look["image/png"]["alt"] == "A row", "for people who hear the page"


def test_an_unknown_name_gets_similar_ones():
    with pytest.raises(LabError, match="did you mean .*padding"):
        lab.figure("paddings")


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_has_a_light_plate_with_round_corners(name):
    """So its dark ink is legible on a dark page too."""
    pixels = imread(data_dir("images") / f"{name}.png")
    plate(pixels)


def test_so_does_a_plot():
    plate(imread(BytesIO(style.png(style.figure(4, 2)))))


def test_a_picture_without_a_plate_is_seen():
    fig = style.figure(4, 2)
    for patch in list(fig.artists):
        patch.remove()
    with pytest.raises(AssertionError):
        plate(imread(BytesIO(style.png(fig))))


def plate(pixels) -> None:
    """The corners are transparent, and just inside the edge lies light, opaque paper."""
    assert pixels.shape[2] == 4 and pixels[0, 0, 3] == 0 and pixels[-1, -1, 3] == 0
    inside = pixels[12, 60:-60]
    assert (inside[:, 3] == 1).all() and (inside[:, :3] > 0.9).mean() > 0.9
