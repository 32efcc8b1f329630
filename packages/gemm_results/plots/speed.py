"""Plots TFLOPS over the rungs of a ladder, and over matrix sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from gemm_look import style
from gemm_results.errors import LabError
from gemm_results.plots import rows as read
from gemm_results.published import Published
from gemm_results.results import Measurement
from gpu_simulator.hardware.data_sheets import GPUS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _room_for(names: Sequence[str], turned: bool, beside: Sequence[str]) -> tuple[Figure, Axes]:
    """A figure and axes with room for the names of the rungs below and for the words `beside` the lines on the right.

    turned: the names are rotated by 40 degrees.
    """
    left, above, caption = 0.75, 0.6, 0.75
    right = max(1.45, 0.3 + 0.087 * max(map(len, beside), default=0))
    below = 0.2 + 0.2 * max(name.count("_") + 1 for name in names)
    if turned:
        reach = [0.088 * len(name) for name in names]  # inches, roughly
        slot = (style.WIDTH - 1.0 - right) / len(names)
        left = max(left, *(0.2 + 0.77 * inches - (k + 0.5) * slot for k, inches in enumerate(reach)))
        below = 0.2 + 0.65 * max(reach)
    fig = style.figure(style.WIDTH, 2.8 + above + below + caption)
    return fig, style.axes(fig, left=left, right=right, top=above, bottom=below + caption)


def _rungs(rows: Sequence[Measurement]) -> list[Measurement]:
    """The rows of rungs at the size that most rungs have (of equals, the largest), sorted by name."""
    rungs = [row for row in rows if read.is_rung(row)]
    if not rungs:
        raise LabError("There is nothing to plot: all measurements are baselines or ceilings, none is a rung.")
    sizes = [read.size_of(row) for row in rungs]
    size = max(sizes, key=lambda s: (sizes.count(s), s[0] * s[1] * s[2]))
    return sorted((r for r in rungs if read.size_of(r) == size), key=lambda row: row.kernel)


def _bar(ax: Axes, x: int, row: Measurement, shines: bool, lines: Sequence[float], mark: float | None) -> None:
    """Draw the bar of one rung with its quartiles and its number.

    The number is inside the bar if a horizontal line would cross it above, and moves left of a published mark.
    """
    speed, low, high = row.tflops, row.tflops_low, row.tflops_high
    fill, edge, width = (style.LIT, style.INK, 1.2) if shines else (style.UNLIT, style.UNLIT_EDGE, style.THIN)
    ax.bar(x, speed, width=0.56, color=fill, edgecolor=edge, linewidth=width, zorder=2)
    whiskers = [[speed - low], [high - speed]]
    ax.errorbar(x, speed, yerr=whiskers, color=style.INK, capsize=3, linewidth=1.0, zorder=4)
    top = ax.get_ylim()[1]
    inside = speed > 0.15 * top and any(speed <= value < high + 0.085 * top for value in lines)
    at, offset, va = (low, -4, "top") if inside else (high, 4, "bottom")
    number = f"{speed:.0f}" if speed >= 100 else f"{speed:.3g}"
    aside = -7 if mark is not None and not inside and -0.02 * top < mark - at < 0.1 * top else 0
    weight = "bold" if shines else "normal"
    style.near(ax, number, (x, at), (aside, offset), ha="center", va=va, zorder=5, fontweight=weight)


@style.drawn
def ladder(
    measurements: Iterable[Measurement], *, lit: str | None = None, published: Sequence[Published] = ()
) -> Figure:
    """The rungs of a ladder, from left to right, at the size that most of them have (of equals, the largest).

    lit: the kernel to highlight.   published: rows named after rungs, all of one GPU, drawn at their share of the
    cuBLAS measured here. Raises `LabError` if there is no rung, or if `lit` is not one of them.
    """
    from matplotlib.ticker import MaxNLocator

    rows = read.usable(measurements, "a ladder")
    rungs = _rungs(rows)
    names = [read.short(row.kernel) for row in rungs]
    lit = read.short(lit) if lit else None
    if lit and lit not in names:
        raise LabError(f"The rung {lit!r} is not among the measurements; they have {', '.join(names)}.")
    baselines = read.baselines(rows, rungs)
    ceiling = read.median(row.ceiling_tflops for row in rungs)
    lines = [value for value in (*baselines.values(), ceiling) if value]

    turned = len(rungs) > 7
    right = [(value, f"{label} {read.in_tflops(value)}", style.INK) for label, value in baselines.items()]
    right += [(ceiling, f"ceiling {read.in_tflops(ceiling)}", style.INK)] if ceiling else []
    fig, ax = _room_for(names, turned, [words for _, words, _ in right])
    ax.set(xlim=(-0.6, len(rungs) - 0.4))
    ax.set_ylim(0, 1.12 * max([*lines, *(row.tflops for row in rungs)]))
    shares = {read.short(row.kernel): row.percent_of_cublas / 100 for row in published if row.percent_of_cublas}
    marks = {name: shares[name] * baselines["cuBLAS"] for name in names if name in shares and baselines.get("cuBLAS")}
    for x, (name, row) in enumerate(zip(names, rungs, strict=True)):
        _bar(ax, x, row, name == lit, lines, marks.get(name))
    for value in baselines.values():
        ax.axhline(value, color=style.INK, linewidth=1.1, linestyle=(0, (5, 2)), zorder=1)
    if ceiling:
        ax.axhline(ceiling, color=style.INK, linewidth=style.THICK, zorder=1)
    style.labels_right(ax, right)
    if marks:
        places = [(x + 0.4, marks[name]) for x, name in enumerate(names) if name in marks]
        style.diamonds(ax, places, 6.5, 1.2, clip_on=False)
        machine = GPUS[published[0].gpu].name.removeprefix("Tesla ")
        style.key(fig, f"◇ published ({machine}): share of cuBLAS")
    words = names if turned else [name.replace("_", "\n") for name in names]
    ax.set_xticks(range(len(rungs)), words)
    if turned:
        ax.tick_params(axis="x", labelrotation=40)
        for tick in ax.get_xticklabels():
            tick.set(ha="right", rotation_mode="anchor")
    ax.tick_params(axis="x", length=0, labelcolor=style.INK)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    style.plain_ticks(ax.yaxis)
    style.axis_titles(ax, "", "TFLOPS")
    style.caption(fig, read.conditions(rungs), 0.75)
    return fig


@style.drawn
def sizes(measurements: Iterable[Measurement], *, lit: str | None = None) -> Figure:
    """TFLOPS over matrix size N (the geometric mean of m, n, k), one line per rung; later rungs are darker.

    lit: the kernel to highlight. Raises `LabError` if there is no row.
    """
    from matplotlib.ticker import MaxNLocator

    rows = read.usable(measurements, "a plot over sizes")
    names = sorted({row.kernel for row in rows if read.is_rung(row)})
    baselines = {row.kernel: label for row in rows if (label := read.baseline_label(row))}
    right = 0.35 + 0.088 * max(len(baselines.get(name, read.short(name))) for name in [*names, *baselines])  # inches
    fig = style.figure(style.WIDTH, 4.4)
    ax = style.axes(fig, left=0.75, right=right, top=0.55, bottom=1.3)
    ticks: set[float] = set()
    labels = []
    top = 0.0
    for k, name in enumerate([*names, *baselines]):
        mine = sorted((math.prod(read.size_of(row)) ** (1 / 3), row.tflops) for row in rows if row.kernel == name)
        xs, ys = zip(*mine, strict=True)
        ticks.update(round(x) for x in xs)
        top = max(top, *ys)
        baseline, shines = name in baselines, lit is not None and read.short(name) == read.short(lit)
        colour = style.INK if baseline else style.tint(style.INK, 0.35 + 0.65 * k / max(len(names) - 1, 1))
        line = {"linestyle": (0, (5, 2))} if baseline else {"linestyle": "-", "marker": "o", "markersize": 6}
        fill, edge = (style.LIT, style.INK) if shines else (colour, colour)
        line |= {"color": colour, "linewidth": style.THICK if shines else style.LINE}
        ax.plot(xs, ys, markerfacecolor=fill, markeredgecolor=edge, zorder=4 if shines else 3, clip_on=False, **line)
        labels.append((ys[-1], baselines.get(name, read.short(name)), colour))
    ax.set_xscale("log", base=2)
    style.plain_ticks(ax.xaxis, sorted(ticks))
    ax.set_ylim(0, top * 1.08)
    ax.yaxis.set_major_locator(MaxNLocator(5))
    style.plain_ticks(ax.yaxis)
    style.axis_titles(ax, "matrix size N", "TFLOPS")
    style.labels_right(ax, labels)
    style.caption(fig, read.conditions(rows, size=False), 0.75)
    return fig
