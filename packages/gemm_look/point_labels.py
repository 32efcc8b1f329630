"""Places labels beside points so that they cover no points, lines or other labels, if possible."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Bbox

# Places that are tried, in this order: offset in points (dx, dy), horizontal alignment, vertical alignment.
PLACES = (
    (9, 0, "left", "center"),
    (8, -3, "left", "top"),
    (-9, 0, "right", "center"),
    (-8, 3, "right", "bottom"),
    (8, 3, "left", "bottom"),
    (-8, -3, "right", "top"),
    (0, 9, "center", "bottom"),
    (0, -9, "center", "top"),
)
MARKER, AROUND, STEPS = 9.0, 2.0, 400  # width of a marker, margin around words (in points); samples of a line


def label_points(
    ax: Axes, points: Sequence[tuple[str, float, float]], lines: Iterable[Sequence[tuple[float, float]]] = (), **look
) -> None:
    """Write the word of each (word, x, y) beside its point, in data coordinates. The limits of the axes must be set.

    lines: straight lines as pairs of ends. The chosen place covers least of the points, of the words already in the
    axes and of the lines; of equal places, the first. `look` is passed to `Axes.annotate`.
    """
    from matplotlib.transforms import Bbox

    renderer, scale = ax.figure.canvas.get_renderer(), ax.figure.dpi / 72
    spots = np.array([ax.transData.transform((x, y)) for _, x, y in points]).reshape(-1, 2)
    markers = [Bbox.from_extents(*(spot - MARKER / 2 * scale), *(spot + MARKER / 2 * scale)) for spot in spots]
    taken = [text.get_window_extent(renderer) for text in ax.texts if not text.get_rotation()]
    along = [_along(ax, ends) for ends in lines]
    for word, x, y in points:
        text = ax.annotate(word, (x, y), xytext=(0, 0), textcoords="offset points", **look)
        costs = []
        for dx, dy, ha, va in PLACES:
            text.set(ha=ha, va=va, position=(dx, dy))
            box = text.get_window_extent(renderer).padded(AROUND * scale)
            hits = sum(_shared(box, other) for other in (*markers, *taken)) + _outside(ax, box)
            costs.append(hits / scale**2 + sum(10 * np.count_nonzero(_within(box, line)) for line in along))
        dx, dy, ha, va = PLACES[int(np.argmin(np.round(costs)))]
        text.set(ha=ha, va=va, position=(dx, dy))
        taken.append(text.get_window_extent(renderer))


def _along(ax: Axes, ends: Sequence[tuple[float, float]]) -> np.ndarray:
    """Points along a line in pixels, shape (STEPS, 2). The line is straight on the page."""
    first, last = ax.transData.transform(ends)
    return first + np.linspace(0, 1, STEPS)[:, None] * (last - first)


def _within(box: Bbox, at: np.ndarray) -> np.ndarray:
    return (at >= box.min).all(1) & (at <= box.max).all(1)


def _shared(box: Bbox, other: Bbox) -> float:
    """The area that two boxes share, in square pixels."""
    from matplotlib.transforms import Bbox

    common = Bbox.intersection(box, other)
    return common.width * common.height if common else 0.0


def _outside(ax: Axes, box: Bbox) -> float:
    """The area of a box that lies outside the axes, in square pixels."""
    return box.width * box.height - _shared(box, ax.get_window_extent())
