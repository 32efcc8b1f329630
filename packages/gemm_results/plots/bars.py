"""TFLOPS of many kernels as horizontal bars, the fastest on top, for ladders with too many names for one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from gemm_look import style
from gemm_results.plots import rows as read
from gemm_results.results import Measurement

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROW = 0.235  # inches per kernel


@style.drawn
def bars(
    rungs: Iterable[Measurement],
    *,
    lines: Mapping[str, float],
    lit: str | None = None,
    published: Mapping[str, float] | None = None,
    published_on: str = "",
) -> Figure:
    """One bar per kernel, with its quartiles and its TFLOPS.

    rungs: measured rows of one size.   lines: {label: TFLOPS}, drawn as vertical lines with their labels above.
    lit: the kernel to highlight.
    published: {kernel: TFLOPS that a published text gives for the GPU `published_on`}, drawn as diamonds.
    """
    from matplotlib.ticker import MaxNLocator

    rungs = sorted(rungs, key=lambda row: row.tflops)
    published = {read.short(name): speed for name, speed in (published or {}).items()}
    names = [read.short(row.kernel) for row in rungs]
    left, top, bottom = 0.5 + 0.088 * max(map(len, names)), 0.95, 1.25
    fig = style.figure(style.WIDTH, top + bottom + ROW * len(rungs))
    ax = style.axes(fig, left=left, right=0.75, top=top, bottom=bottom)
    ax.set(ylim=(-0.7, len(rungs) - 0.3))
    ax.set_xlim(0, 1.06 * max([*lines.values(), *published.values(), *(row.tflops for row in rungs)]))
    for y, (name, row) in enumerate(zip(names, rungs, strict=True)):
        speed, shines = row.tflops, lit is not None and name == read.short(lit)
        fill, edge = (style.LIT, style.INK) if shines else (style.UNLIT, style.UNLIT_EDGE)
        ax.barh(y, speed, height=0.66, color=fill, edgecolor=edge, linewidth=style.THIN, zorder=2)
        ax.plot([row.tflops_low, row.tflops_high], [y, y], color=style.INK, linewidth=style.LINE, zorder=4)
        end, mark = row.tflops_high, published.get(name, 0.0)
        close = -0.005 < mark / ax.get_xlim()[1] - end / ax.get_xlim()[1] < 0.09  # then the number follows the diamond
        at, offset = ((max(end, mark), y), (7, 0)) if close else ((end, y), (5, 0))
        plate = {"boxstyle": "square,pad=0.1", "facecolor": style.PAPER, "edgecolor": "none"}
        weight = "bold" if shines else "normal"
        style.near(ax, read.in_tflops(speed, 100), at, offset, va="center", fontweight=weight, zorder=5, bbox=plate)
    inches = ax.get_position().width * style.WIDTH
    limit = ax.get_xlim()[1]
    places = style.spread([speed / limit * inches for speed in lines.values()], 1.15)
    for (label, speed), place in zip(lines.items(), places, strict=True):
        ax.axvline(speed, color=style.INK, linewidth=1.1, linestyle=(0, (5, 2)), zorder=1)
        words, at = f"{label} {read.in_tflops(speed)}", (place / inches, 1)
        style.near(ax, words, at, (0, 4), xycoords="axes fraction", ha="center", va="bottom")
    marks = [(published[name], y) for y, name in enumerate(names) if name in published]
    if marks:
        style.diamonds(ax, marks, 5, 1.1)
        at = 0.35 / style.WIDTH, 1 - 0.35 / fig.get_figheight()
        fig.text(*at, f"◇ published ({published_on})", color=style.MUTED, va="center")
    ax.set_yticks(range(len(rungs)), names)
    ax.tick_params(axis="y", length=0, labelcolor=style.INK)
    ax.xaxis.set_major_locator(MaxNLocator(6))
    style.plain_ticks(ax.xaxis)
    ax.set_xlabel("TFLOPS", loc="right", color=style.MUTED, fontsize=style.SMALL)
    style.caption(fig, read.conditions(rungs), 0.35)
    return fig
