"""Laws for every picture that matplotlib draws: its words are on it, large enough, apart and legible."""

from __future__ import annotations

from unittest import mock

import matplotlib
import numpy as np
from matplotlib.text import Text

from gemm_look import style
from tools.figures import png


def without_letters(fig):
    """The texts that are shown, after a drawing without their letters, which take longer than all the rest."""
    with mock.patch.object(Text, "draw", lambda self, renderer, *args, **kwargs: None):
        return png.texts(fig)


def overlaps(boxes):
    """Pairs (i, j), i < j, of boxes (x0, y0, x1, y1) that share more than one pixel in x and two in y."""
    x0, y0, x1, y1 = np.array(boxes).reshape(-1, 4).T
    wide = np.minimum.outer(x1, x1) - np.maximum.outer(x0, x0) > 1
    high = np.minimum.outer(y1, y1) - np.maximum.outer(y0, y0) > 2
    return np.argwhere(np.triu(wide & high, 1))


def problems(fig, smallest: float = style.SMALL) -> list[str]:
    """What is wrong with the texts: outside the card, smaller than so many points, one over another, hard to read."""
    found = []
    width, height = fig.canvas.get_width_height()
    shown = without_letters(fig)
    renderer = fig.canvas.get_renderer()
    placed = [(text, text.get_window_extent(renderer).extents) for text in shown]
    for text, (x0, y0, x1, y1) in placed:
        words = text.get_text()
        if x0 < 6 or y0 < 6 or x1 > width - 6 or y1 > height - 6:
            found.append(f"{words!r} leaves the card")
        if text.get_fontsize() < smallest:
            found.append(f"{words!r} is smaller than {smallest} points")
    level = [(text, box) for text, box in placed if text.get_rotation() % 90 == 0]
    for i, j in overlaps([box for _, box in level]):
        found.append(f"{level[i][0].get_text()!r} and {level[j][0].get_text()!r} overlap")
    pixels = np.array(fig.canvas.buffer_rgba())
    pixels[..., 3] = 0  # of the colours only red, green and blue count
    pixels = pixels.view(np.uint32)[..., 0]
    for text, (x0, y0, x1, y1) in level:
        behind = pixels[max(0, height - int(y1)) : height - int(y0), max(0, int(x0)) : int(x1)]
        if not behind.size:
            continue  # outside
        colours, counts = np.unique(behind, return_counts=True)
        ground = matplotlib.colors.to_hex(colours[counts.argmax() :][:1].view(np.uint8)[:3] / 255)
        needed = 4.5 if text.get_fontweight() == "normal" else 3.0
        if style.contrast(matplotlib.colors.to_hex(text.get_color()), ground) < needed:
            found.append(f"{text.get_text()!r} is hard to read on {ground}")
    return found
