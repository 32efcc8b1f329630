"""Plots predicted times beside recorded ones. A prediction is always hollow, and its error is dashed."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gemm_look import style
from gemm_look.point_labels import label_points
from gemm_results.plots import rows as read

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How each kind of recorded speed is drawn beside predictions: (marker, colour, words of the legend).
RECORDED = {
    "measured": ("s", style.INK, "measured, in a burst"),
    "profiled": ("v", style.BLUE, "one launch under Nsight Compute"),
    "published": ("D", style.ORANGE, "published"),
}
BAND, NAMED = 0.15, 6  # half-width of the band, as a share of the recorded time; predictions that are named


@style.drawn
def predicted_ladder(
    names: Sequence[str], predicted: Mapping[str, Any], recorded: Mapping[str, Sequence[tuple[str, float]]], n: int
) -> Figure:
    """The rungs `names` from left to right: TFLOPS as predicted, with the median error of such speeds, and as recorded.

    Of a GPU without predicted TFLOPS, all speeds are drawn as multiples of the first rung's.
    predicted: {rung: Predicted}.   recorded: {kind of `RECORDED`: (rung, TFLOPS) pairs}, of the same size.
    """
    first = next(iter(predicted.values()))
    heights = {name: one.tflops or first.cycles / one.cycles for name, one in predicted.items()}
    if not first.tflops:
        recorded = {kind: _multiples(pairs, heights) for kind, pairs in recorded.items()}
    words = [f"{first.gpu} · {n} × {n} × {n}", *textwrap.wrap(first.trust, 100)]
    if missing := [read.short(name) for name in names if name not in predicted]:
        words += textwrap.wrap(f"no prediction, or not modelled at this size: {', '.join(missing)}", 100)
    reach = max(0.088 * len(read.short(name)) for name in names)  # inches of a name, roughly
    below = 0.5 + 0.17 * len(words) + 0.65 * reach
    fig = style.figure(style.WIDTH, 3.9 + below)
    ax = style.axes(fig, left=max(0.75, 0.2 + 0.77 * reach - 0.4), right=0.3, top=1.0, bottom=below)
    for kind, (marker, colour, label) in RECORDED.items():
        if points := [(names.index(name), speed) for name, speed in recorded.get(kind, ()) if name in names]:
            ax.plot(*zip(*points, strict=True), marker, color=colour, markersize=5, label=label, zorder=3)
    xs, ys = zip(*[(x, heights[name]) for x, name in enumerate(names) if name in heights], strict=True)
    spans = [y * (first.spread.median if first.spread else 0) for y in ys]
    label = "predicted in a burst ± median error" if first.spread else "predicted ratio"
    _hollow(ax, xs, ys, label, style.VERMILION, "o", spans)
    speeds = [speed for pairs in recorded.values() for name, speed in pairs if name in names]
    speeds += [y + span for y, span in zip(ys, spans, strict=True)]
    ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(0, 1.04 * max(speeds)))
    short = [read.short(name) for name in names]
    ax.set_xticks(range(len(names)), short, rotation=40, ha="right", rotation_mode="anchor")
    ax.tick_params(axis="x", length=0, labelcolor=style.INK)
    style.plain_ticks(ax.yaxis)
    style.axis_titles(ax, "", "TFLOPS" if first.tflops else f"times as fast as {read.short(next(iter(predicted)))}")
    _legend(ax, 2)
    style.caption(fig, "\n".join(words), 0.4)
    return fig


def _multiples(pairs: Sequence[tuple[str, float]], heights: Mapping[str, float]) -> list[tuple[str, float]]:
    """Speeds as multiples, so that the first of them stands at the prediction for the same rung."""
    first = next(((name, speed) for name, speed in pairs if name in heights), None)
    return [(name, speed / first[1] * heights[first[0]]) for name, speed in pairs] if first else []


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
        _hollow(ax, *_millions(some), words, colour, marker, size=6)
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


def _hollow(
    ax: Axes,
    xs: Sequence[float],
    ys: Sequence[float],
    label: str,
    colour: str,
    marker: str,
    spans: Any = None,
    size: float = 9,
):
    """Draw predictions: hollow marks, with dashed bars of these half-lengths."""
    made = ax.errorbar(
        xs,
        ys,
        yerr=spans,
        linestyle="none",
        marker=marker,
        markersize=size,
        markerfacecolor="none",
        markeredgecolor=colour,
        markeredgewidth=1.5,
        ecolor=colour,
        elinewidth=1.1,
        label=label,
        zorder=5,
    )
    for bar in made[2]:
        bar.set_linestyle((0, (3, 2)))


def _legend(ax: Axes, columns: int) -> None:
    """Write the legend above the title of the y axis, from the left edge of the axes."""
    inches = ax.get_position().height * ax.figure.get_figheight()
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(-0.02, 1 + 0.3 / inches),
        ncols=columns,
        frameon=False,
        fontsize=style.SMALL,
        handletextpad=0.4,
    )
