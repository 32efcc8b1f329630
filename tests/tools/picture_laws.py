"""Laws for every picture that matplotlib draws: its words are on it, large enough, apart and legible."""

from __future__ import annotations

import itertools

import matplotlib
import numpy as np

from gemm_lab.plots import style
from tools.figures import png


def boxes(fig):
    """(text, its bounding box in pixels) of every text that is shown."""
    shown = png.texts(fig)
    renderer = fig.canvas.get_renderer()
    return [(text, text.get_window_extent(renderer)) for text in shown]


def problems(fig, smallest: float = style.SMALL) -> list[str]:
    """What is wrong with the texts: outside the card, smaller than so many points, one over another, hard to read."""
    found = []
    width, height = fig.canvas.get_width_height()
    placed = boxes(fig)
    for text, box in placed:
        words = text.get_text()
        if box.x0 < 6 or box.y0 < 6 or box.x1 > width - 6 or box.y1 > height - 6:
            found.append(f"{words!r} leaves the card")
        if text.get_fontsize() < smallest:
            found.append(f"{words!r} is smaller than {smallest} points")
    level = [(t, b) for t, b in placed if t.get_rotation() % 90 == 0]
    for (first, a), (second, b) in itertools.combinations(level, 2):
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1 and min(a.y1, b.y1) - max(a.y0, b.y0) > 2:
            found.append(f"{first.get_text()!r} and {second.get_text()!r} overlap")
    for text, _ in placed:
        text.set_visible(False)
    fig.canvas.draw()
    pixels = np.asarray(fig.canvas.buffer_rgba())[..., :3]
    for text, box in level:
        behind = pixels[height - int(box.y1) : height - int(box.y0), int(box.x0) : int(box.x1)].reshape(-1, 3)
        colours, counts = np.unique(behind, axis=0, return_counts=True)
        ground = matplotlib.colors.to_hex(colours[counts.argmax()] / 255)
        needed = 4.5 if text.get_fontweight() == "normal" else 3.0
        if style.contrast(text.get_color(), ground) < needed:
            found.append(f"{text.get_text()!r} is hard to read on {ground}")
    return found
