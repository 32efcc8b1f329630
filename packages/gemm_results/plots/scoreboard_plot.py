"""Plots all ladders side by side, and the gain of each rung of one ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gemm_look import style
from gemm_results.plots import rows as read

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BAND, STEP, GAP = 0.82, 0.115, 0.1  # inches: least width of a band, distance of rungs, gap between bands
CHAIN = 14  # the rungs of a longer ladder do not build on one another, so its dots are sorted by speed


@style.drawn
def scoreboard(board: Any, *, lit: str | None = None, beside: Any = None) -> Figure:
    """One band per ladder, one dot per rung in teaching order, TFLOPS on a log scale.

    A dashed line is cuBLAS and a thick one the ceiling, both of the same run. lit: the kernel to highlight.
    beside: a second Board, drawn with hollow dots.
    """
    bands = board.ladders
    widths = [max(BAND, STEP * min(len(rows), CHAIN) + 0.2) for rows in bands.values()]
    scale = (style.WIDTH - 1.05 - GAP * len(bands)) / sum(widths)
    fig = style.figure(style.WIDTH, 5.9)
    ax = style.axes(fig, left=0.75, right=0.3, top=0.75, bottom=1.75)
    total = sum(widths) * scale + GAP * len(bands)
    ax.set(xlim=(0, total), yscale="log")
    speeds = [row.tflops for rows in bands.values() for row in rows]
    tops = [row.ceiling_tflops for rows in bands.values() for row in rows if row.ceiling_tflops]
    ax.set_ylim(0.55 * min(speeds), 2.1 * max([*speeds, *tops]))
    left, ticks = GAP / 2, []
    for (name, rows), width in zip(bands.items(), widths, strict=True):
        right = left + width * scale
        ax.axvspan(left, right, color=style.tint(style.UNLIT, 0.45), zorder=0, linewidth=0)
        _lines(ax, rows, left, right)
        _dots(ax, rows, left, right, lit, hollow=False)
        if beside is not None and name in beside.ladders and beside.name != board.name:
            _dots(ax, beside.ladders[name], left, right, None, hollow=True)
        best = max(rows, key=lambda row: row.tflops)
        middle, look = (left + right) / 2, {"ha": "center", "va": "baseline", "fontweight": "bold"}
        style.near(ax, name, (middle, 0), (0, -17), xycoords=("data", "axes fraction"), **look)
        share = f"{100 * best.ratio_cublas:.0f} % of\ncuBLAS" if best.ratio_cublas else ""
        ticks.append((middle, f"{best.dtype.upper().replace('/', '→')}\nbest {best.tflops:.3g}\n{share}"))
        left = right + GAP
    ax.set_xticks([x for x, _ in ticks], [words for _, words in ticks])
    ax.tick_params(axis="x", length=0, labelcolor=style.INK, pad=24)
    style.plain_ticks(ax.yaxis, [v for v in (0.1, 1, 10, 100, 1000) if ax.get_ylim()[0] < v < ax.get_ylim()[1]])
    style.axis_titles(ax, "", "TFLOPS")
    other = f"   ○ on {beside.name}" if beside is not None and beside.name != board.name else ""
    style.key(fig, f"━ ceiling   ╌ cuBLAS   ● a rung{other}")
    style.caption(fig, read.conditions([row for rows in bands.values() for row in rows]), 0.4)
    return fig


def _lines(ax: Any, rows: list[Any], left: float, right: float) -> None:
    """Draw cuBLAS and the ceiling across a band: the medians over its rows, which can be from several runs."""
    for column, width, dashes in (("cublas_tflops", 1.1, (0, (5, 2))), ("ceiling_tflops", style.THICK, "-")):
        value = read.median(getattr(row, column) for row in rows)
        if value:
            look = {"color": style.INK, "linewidth": width, "linestyle": dashes, "solid_capstyle": "butt"}
            ax.plot([left, right], [value, value], zorder=1, **look)


def _dots(ax: Any, rows: list[Any], left: float, right: float, lit: str | None, hollow: bool) -> None:
    """Draw the rungs of one ladder from left to right; those of a ladder of up to CHAIN rungs are joined by a line."""
    chain = len(rows) <= CHAIN
    rows = rows if chain else sorted(rows, key=lambda row: row.tflops)
    step = (right - left) / len(rows)
    xs, ys = [left + (place + 0.5) * step for place in range(len(rows))], [row.tflops for row in rows]
    if chain and not hollow:
        ax.plot(xs, ys, color=style.RULE, linewidth=style.LINE, zorder=2)
    for x, row in zip(xs, rows, strict=True):
        shines = lit is not None and read.short(row.kernel) == read.short(lit)
        face = style.PAPER if hollow else style.LIT if shines else style.tint(style.INK, 0.75)
        look = {"markerfacecolor": face, "markeredgecolor": style.INK, "markeredgewidth": 1.0}
        ax.plot(x, row.tflops, marker="o", markersize=9 if shines else 6, zorder=5 if shines else 4, **look)


@style.drawn
def gains(found: Any) -> Figure:
    """One bar per rung from 1 to its ratio, with the quartiles. It is hatched if tile settings changed with the idea.

    found: `Gain` objects, in order.
    """
    rows = list(found)
    names = [read.short(row.after.kernel) for row in rows]
    height = 0.95 + 0.75 + 0.33 * len(rows)
    fig = style.figure(style.WIDTH, height)
    ax = style.axes(fig, left=0.4 + 0.088 * max(map(len, names)), right=0.8, top=0.6, bottom=1.1)
    ax.set(ylim=(len(rows) - 0.4, -0.6), xscale="log")
    ends = [value for row in rows for value in (row.low, row.high)]
    ax.set_xlim(min(0.92, 0.95 * min(ends)), max(1.09, 1.12 * max(ends)))
    for y, row in enumerate(rows):
        colour = style.GREEN if row.ratio >= 1 else style.VERMILION
        fill, hatch = style.tint(colour, 0.18 if row.moved else 0.6), "////" if row.moved else None
        look = {"linewidth": style.THIN, "edgecolor": colour, "color": fill, "hatch": hatch}
        ax.barh(y, row.ratio - 1, left=1, height=0.62, zorder=2, **look)
        ax.plot([row.low, row.high], [y, y], color=style.INK, linewidth=style.LINE, zorder=4)
        style.near(ax, f"{row.ratio:.3f}", (max(row.high, 1), y), (6, 0), va="center")
    ax.axvline(1, color=style.INK, linewidth=1.0, zorder=3)
    ax.set_yticks(range(len(rows)), names)
    ax.tick_params(axis="y", length=0, labelcolor=style.INK)
    low, high = ax.get_xlim()
    fine, coarse = (0.8, 0.9, 1.1, 1.2), (0.5, 0.7, 1, 1.5, 2, 3, 5, 10)
    ticks = sorted(coarse + (fine if high / low < 3 else ()))
    style.plain_ticks(ax.xaxis, [tick for tick in ticks if low <= tick <= high])
    style.axis_titles(ax, "times as fast as the rung before", "")
    if any(row.moved for row in rows):
        style.key(fig, "hatched: tile settings moved with the idea")
    style.caption(fig, read.conditions([row.after for row in rows]), 0.4)
    return fig
