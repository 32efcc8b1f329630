"""Words beside points: no word touches a point, another word or a line, where that can be had."""

import numpy as np
import pytest
from matplotlib.transforms import Bbox

from gemm_look import style
from gemm_look.point_labels import MARKER, label_points

CLOSE = [("hopper", 64.0, 690.0), ("rtx5090, ampere", 85.3, 470.0), ("t4", 128.0, 380.0), ("wmma", 85.3, 306.0)]


def drawn(points, lines=()):
    fig = style.figure(8, 5)
    ax = style.axes(fig)
    ax.set(xscale="log", yscale="log", xlim=(1, 4000), ylim=(8, 3000))
    label_points(ax, points, lines)
    scale, renderer = fig.dpi / 72, fig.canvas.get_renderer()
    half = MARKER / 2 * scale
    markers = [
        Bbox.from_extents(*(spot - half), *(spot + half))
        for spot in (ax.transData.transform((x, y)) for _, x, y in points)
    ]
    return ax, [text.get_window_extent(renderer) for text in ax.texts], markers


def assert_apart(words, markers):
    for index, word in enumerate(words):
        assert not any(word.overlaps(marker) for marker in markers)
        assert not any(word.overlaps(other) for other in words[:index])


def test_words_of_close_points_touch_nothing():
    ax, words, markers = drawn(CLOSE)
    assert_apart(words, markers)
    assert [text.get_text() for text in ax.texts] == [word for word, _, _ in CLOSE]


@pytest.mark.parametrize("seed", range(5))
def test_words_of_random_points_touch_nothing_and_stay_inside(seed):
    at = np.exp(np.random.default_rng(seed).uniform(np.log([2, 12]), np.log([3000, 2500]), (7, 2)))
    ax, words, markers = drawn([(f"kernel {n}", x, y) for n, (x, y) in enumerate(at)])
    assert_apart(words, markers)
    page = ax.get_window_extent()
    assert all(page.contains(*word.min) and page.contains(*word.max) for word in words)


def test_a_line_through_the_first_place_is_avoided():
    slope = [(1, 100), (4000, 100)]
    ax, (word,), _ = drawn([("on the line", 30.0, 100.0)], [slope])
    y = ax.transData.transform(slope[0])[1]
    assert not word.y0 <= y <= word.y1
