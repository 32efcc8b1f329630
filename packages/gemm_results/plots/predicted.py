"""Plots predicted times beside recorded ones. A prediction is always hollow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gemm_look import style
from gemm_look.point_labels import label_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAND, NAMED = 0.15, 6  # half-width of the band, as a share of the recorded time; predictions that are named


@style.drawn
def against_recorded(rungs: Sequence[Any], blind: Sequence[Any], worst: Sequence[Any], gpu: str) -> Figure:
    """Predicted over recorded cycles of kernels on `gpu`, both on log scales, and the band of ± `BAND`.

    rungs, blind, worst: objects with kernel, predicted, recorded and factor. The first `NAMED` of `worst` are named.
    """
    fig = style.figure(style.WIDTH, 5.0)
    ax = style.axes(fig, left=0.85, right=0.3, top=0.85, bottom=1.0)
    known = [value / 1e6 for one in [*rungs, *blind] for value in (one.predicted, one.recorded)]
    low, high = 0.7 * min(known), 1.4 * max(known)
    ax.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    ends = np.array([low, high])
    grey = style.tint(style.UNLIT, 0.8)
    ax.fill_between(ends, ends * (1 - BAND), ends * (1 + BAND), color=grey, linewidth=0, zorder=0)
    ax.plot(ends, ends, color=style.RULE, linewidth=style.THIN, zorder=1)
    for some, words, colour, marker in (
        (rungs, f"{len(rungs)} recorded rungs, predicted", style.BLUE, "o"),
        (blind, f"{len(blind)} blind trials, predicted", style.VERMILION, "^"),
    ):
        _hollow(ax, *_millions(some), words, colour, marker)
    words = [f"{one.kernel} × {one.factor:.2f}" for one in worst[:NAMED]]
    named = list(zip(words, *_millions(worst[:NAMED]), strict=True))
    label_points(ax, named, [((low, low), (high, high))], fontsize=style.SMALL - 1, color=style.MUTED)
    for axis in (ax.xaxis, ax.yaxis):
        style.plain_ticks(axis, [tick for tick in (0.01, 0.1, 1, 10, 100, 1000) if low < tick < high])
    style.axis_titles(ax, "recorded, million cycles", "predicted, million cycles")
    _legend(ax, 2)
    words = f"{gpu} · recorded under Nsight Compute · grey: predicted within ± {BAND:.0%} of the recorded time"
    style.caption(
        fig, f"{words}\nnamed: the {NAMED} worst predictions, and how many times the recorded time each is", 0.4
    )
    return fig


def _millions(some: Sequence[Any]) -> tuple[list[float], list[float]]:
    """The recorded and the predicted times, in millions of cycles."""
    return [one.recorded / 1e6 for one in some], [one.predicted / 1e6 for one in some]


def _hollow(ax: Axes, xs: Sequence[float], ys: Sequence[float], label: str, colour: str, marker: str):
    """Draw predictions as hollow marks."""
    look = {"markersize": 6, "markerfacecolor": "none", "markeredgecolor": colour, "markeredgewidth": 1.5}
    ax.errorbar(xs, ys, linestyle="none", marker=marker, label=label, zorder=5, **look)


def _legend(ax: Axes, columns: int) -> None:
    """Write the legend above the title of the y axis, from the left edge of the axes."""
    inches = ax.get_position().height * ax.figure.get_figheight()
    place = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1 + 0.3 / inches), "ncols": columns}
    ax.legend(frameon=False, fontsize=style.SMALL, handletextpad=0.4, **place)
