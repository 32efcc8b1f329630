"""Plots predicted times beside recorded ones. A prediction is always hollow, and its error is dashed."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gemm_lab.plots import rows as read
from gemm_lab.plots import style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How each kind of recorded speed is drawn beside predictions: (marker, colour, words of the legend).
RECORDED = {
    "measured": ("s", style.INK, "measured, sustained"),
    "profiled": ("v", style.BLUE, "one launch under Nsight Compute"),
    "published": ("D", style.ORANGE, "published"),
}


@style.drawn
def predicted_ladder(
    names: Sequence[str], predicted: Mapping[str, Any], recorded: Mapping[str, Mapping[str, float]], n: int
) -> Figure:
    """The rungs `names` from left to right: TFLOPS as predicted, with the mean error of blind trials, and as recorded.

    predicted: {rung: Predicted}.   recorded: {kind of `RECORDED`: {rung: TFLOPS}}.
    """
    first = next(iter(predicted.values()))
    reach = max(0.088 * len(read.short(name)) for name in names)  # inches of a name, roughly
    fig = style.figure(style.WIDTH, 4.7 + 0.65 * reach)
    ax = style.axes(fig, left=max(0.75, 0.2 + 0.77 * reach - 0.4), right=0.3, top=1.0, bottom=0.8 + 0.65 * reach)
    for kind, (marker, colour, words) in RECORDED.items():
        if points := [(x, recorded[kind][name]) for x, name in enumerate(names) if name in recorded.get(kind, {})]:
            ax.plot(*zip(*points, strict=True), marker, color=colour, markersize=5, label=words, zorder=3)
    places = [(x, predicted[name]) for x, name in enumerate(names) if name in predicted]
    xs, ys = [x for x, _ in places], [one.tflops for _, one in places]
    spans = [one.tflops * (one.error.mean if one.error else 0) for _, one in places]
    label = "predicted ± mean error of blind trials" if first.error else "predicted, error unknown"
    _hollow(ax, xs, ys, label, style.VERMILION, "o", spans)
    speeds = [
        *(y + span for y, span in zip(ys, spans, strict=True)),
        *(speed for kind in recorded.values() for name, speed in kind.items() if name in names),
    ]
    ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(0, 1.04 * max(speeds)))
    ax.set_xticks(
        range(len(names)), [read.short(name) for name in names], rotation=40, ha="right", rotation_mode="anchor"
    )
    ax.tick_params(axis="x", length=0, labelcolor=style.INK)
    style.plain_ticks(ax.yaxis)
    style.axis_titles(ax, "", "TFLOPS")
    _legend(ax, 2)
    style.caption(fig, f"{first.gpu} · {n} × {n} × {n}\n" + "\n".join(textwrap.wrap(first.trust, 100)), 0.4)
    return fig


def _hollow(
    ax: Axes, xs: Sequence[float], ys: Sequence[float], label: str, colour: str, marker: str, spans: Any = None
):
    """Draw predictions: hollow marks, with dashed bars of these half-lengths."""
    made = ax.errorbar(
        xs,
        ys,
        yerr=spans,
        linestyle="none",
        marker=marker,
        markersize=9,
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
    """Write the legend above the axes, from their left edge."""
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(-0.02, 1.06),
        ncols=columns,
        frameon=False,
        fontsize=style.SMALL,
        handletextpad=0.4,
    )
