"""Writes small, reproducible PNG files with a description of what they show.

The description is JSON in the PNG's "Description" text: the picture's name, its size in inches and its words, and for
a picture that is drawn from results a digest of its points. A test compares it with a newly drawn picture. It finds
files that are out of date even on a machine that renders fonts with slightly different pixels.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from gemm_look import style
from gemm_look.palette import compact

FROM_RESULTS = ("scoreboard",)  # the pictures whose points come from results/
COLOURS = 256
STORED_COLOURS = 24  # for pictures in a notebook, which should be small; enough for flat colours and text


def texts(fig: Figure) -> list[Text]:
    """The text artists of a figure that are visible and not empty."""
    fig.canvas.draw()  # creates the tick labels of the axes
    hidden = {id(text) for ax in fig.axes for text in _hidden(ax)}
    return [t for t in fig.findobj(Text) if t.get_visible() and t.get_text().strip() and id(t) not in hidden]


def _hidden(ax: Axes) -> Iterator[Text]:
    """Texts that exist but are not drawn: ticks outside the limits, and all texts of axes that are switched off."""
    for axis in (ax.xaxis, ax.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.majorTicks, *axis.minorTicks):
            yield tick.label2
            if not ax.axison or not low <= tick.get_loc() <= high:
                yield tick.label1
        if not ax.axison:
            yield axis.label


def description(fig: Figure, name: str) -> dict:
    """The description of a picture: {"name", "size_inches": [width, height], "texts": sorted}, and perhaps "points"."""
    width, height = fig.get_size_inches()
    points = {"points": _digest_of_points(fig)} if name in FROM_RESULTS else {}
    return {
        "name": name,
        "size_inches": [round(float(width), 3), round(float(height), 3)],
        "texts": sorted(t.get_text() for t in texts(fig)),
        **points,
    }


def _digest_of_points(fig: Figure) -> str:
    """A digest of where the lines and dots of a picture lie, in the units of its data, to six digits."""
    places = [[f"{number:.6g}" for number in np.ravel(line.get_xydata())] for ax in fig.axes for line in ax.lines]
    return hashlib.sha256(json.dumps(places).encode()).hexdigest()[:16]


def write_png(fig: Figure, name: str, path: Path) -> Path:
    """Write the figure as a PNG with a palette and return the path; the same figure gives the same bytes."""
    words = json.dumps(description(fig, name), ensure_ascii=False, sort_keys=True)
    info = PngInfo()
    info.add_itxt("Description", words)
    image = _with_palette(Image.open(io.BytesIO(style.png(fig))).convert("RGBA"))
    image.save(path, format="PNG", optimize=True, dpi=(style.DPI, style.DPI), pnginfo=info)
    return path


def smaller(data: bytes) -> bytes:
    """The PNG `data` with a small palette, for pictures in a notebook: about a quarter of the bytes.

    A rare but distinct colour, such as that of a single highlighted dot, is kept.
    """
    return compact(data, most=STORED_COLOURS)


def _with_palette(image: Image.Image) -> Image.Image:
    """The image in its `COLOURS` most frequent colours; the few other pixels get the nearest of these."""
    pixels = np.asarray(image)
    colours, index, counts = np.unique(pixels.reshape(-1, 4).view("<u4"), return_inverse=True, return_counts=True)
    colours = colours.view(np.uint8).reshape(-1, 4).astype(np.int64)
    palette = colours[np.argsort(-counts, kind="stable")[:COLOURS]]
    squares = (colours**2).sum(1)[:, None] - 2 * colours @ palette.T + (palette**2).sum(1)
    nearest = squares.argmin(1).astype(np.uint8)
    result = Image.fromarray(nearest[index].reshape(pixels.shape[:2]))
    result.putpalette(palette.astype(np.uint8).tobytes(), "RGBA")
    return result


def read_description(path: Path) -> dict:
    """The description stored in a PNG that `write_png` wrote."""
    with Image.open(path) as image:
        return json.loads(image.text["Description"])
