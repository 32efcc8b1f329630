"""Plots the roofline of any machine: memory levels as slopes, arithmetic units as ceilings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gemm_look import style
from gemm_look.point_labels import label_points
from gemm_results import roofline_model as model
from gemm_results.errors import LabError
from gpu_simulator.hardware.data_sheets import Gpu

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _halo() -> list[Any]:
    """The path effect that gives words a white edge."""
    from matplotlib import patheffects

    return [patheffects.withStroke(linewidth=3, foreground=style.PAPER)]


def _levels_and_ceilings(machine: Any, ceilings: Mapping[str, float] | None):
    if isinstance(machine, Gpu):
        tensor = machine.tensor_tflops.get(("f16", "f32"))
        peaks = {"FP16 tensor": tensor} if tensor else {}
        return _levels(model.roofline(machine)), dict(ceilings or {**peaks, "FP32": machine.fp32_tflops})
    if isinstance(machine, model.Roofline):
        return _levels(machine), dict(ceilings or {"peak": machine.tflops})
    if not machine or not ceilings:
        raise LabError(
            "A roofline needs at least one memory level and one ceiling, such as "
            "roofline({'DRAM': 220}, ceilings={'HMMA': 49.4})."
        )
    return dict(machine), dict(ceilings)


def _levels(machine: model.Roofline) -> dict[str, float]:
    return {level.name: level.gbps for level in machine.levels}


@style.drawn
def roofline(
    gpu_or_levels: Gpu | model.Roofline | Mapping[str, float],
    points: Iterable[tuple[str, float, float]] = (),
    log: bool = True,
    *,
    ceilings: Mapping[str, float] | None = None,
    height: float = 4.3,
) -> Figure:
    """min(bandwidth x intensity, ceiling) for each memory level and ceiling, with their balance points.

    gpu_or_levels: a Gpu, a Roofline of `gemm_results.roofline_model`, or {memory: GB/s}.
    ceilings: {name: TFLOPS}; by default those of the Gpu or the Roofline.
    points: (label, FLOP/byte, TFLOPS).   log: both axes logarithmic.   height: inches.
    Raises `LabError` without a memory level or a ceiling.
    """
    levels, ceilings = _levels_and_ceilings(gpu_or_levels, ceilings)
    points = list(points)
    fig = style.figure(style.WIDTH, height)
    ax = style.axes(fig, left=0.8, right=0.35, top=0.6, bottom=0.72)
    _roofline_limits(ax, levels, ceilings, points, log)
    for name, beta in levels.items():
        _slope(ax, name, beta, max(ceilings.values()), log)
    x1 = ax.get_xlim()[1]
    for name, tau in ceilings.items():
        begin = model.balance(tau, max(levels.values()))
        ax.plot([begin, x1], [tau, tau], color=style.INK, linewidth=style.LINE, zorder=2)
        style.near(ax, _ceiling_words(name, tau), (x1, tau), (0, -5), ha="right", va="top", fontweight="bold")
        _balance_points(ax, levels, tau, tau == max(ceilings.values()))
    for _, intensity, tflops in points:
        look = {"markersize": 8, "markerfacecolor": style.LIT, "markeredgecolor": style.INK}
        ax.plot(intensity, tflops, marker="o", zorder=6, **look)
    label_points(ax, points, _lines(ax, levels, ceilings), zorder=6, path_effects=_halo())
    style.axis_titles(ax, "intensity, FLOP/byte", "TFLOPS")
    return fig


def _lines(ax: Axes, levels: Mapping[str, float], ceilings: Mapping[str, float]):
    """The ends of the slopes, the ceilings and the dotted lines below the balance points, as (x, y) in data units."""
    (x0, x1), y0, top = ax.get_xlim(), ax.get_ylim()[0], max(ceilings.values())
    for beta in levels.values():
        start = max(x0, 1000 * y0 / beta)
        yield (start, beta * start / 1000), (model.balance(top, beta), top)
    for tau in ceilings.values():
        yield (model.balance(tau, max(levels.values())), tau), (x1, tau)
        for beta in levels.values():
            yield (model.balance(tau, beta), y0), (model.balance(tau, beta), tau)


def _ceiling_words(name: str, tau: float) -> str:
    return f"{name} {tau:.0f} TFLOPS" if tau >= 100 else f"{name} {tau:.3g} TFLOPS"


def _roofline_limits(ax: Axes, levels, ceilings, points, log: bool) -> None:
    """Set limits and ticks so that all points are inside and the highest ceiling's name fits at its right end."""
    from matplotlib.ticker import MaxNLocator

    top, slowest, fastest = max(ceilings.values()), min(levels.values()), max(levels.values())
    first = min([model.balance(min(ceilings.values()), fastest), *(x for _, x, _ in points)])
    last = max([model.balance(top, slowest), *(x for _, x, _ in points)])
    if not log:
        ax.set(xlim=(0, 1.45 * last), ylim=(0, 1.28 * top))
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(6))
            style.plain_ticks(axis)
        return
    x0 = 10.0 ** np.floor(np.log10(first / 4))
    name = 0.35 + max(0.098 * len(_ceiling_words(n, t)) for n, t in ceilings.items() if t == top)  # inches
    room = ax.get_position().width * ax.figure.get_figwidth()
    x1 = 10 ** ((room * np.log10(last) - name * np.log10(x0)) / (room - name))
    y0 = min([slowest * x0 / 1000, *(t / 2 for _, _, t in points)]) * 1.6
    y1 = 3.2 * top
    ax.set(xscale="log", yscale="log", xlim=(x0, x1), ylim=(y0, y1))
    style.plain_ticks(ax.xaxis, [10.0**e for e in range(-2, 6) if x0 <= 10.0**e <= x1])
    style.plain_ticks(ax.yaxis, [10.0**e for e in range(-3, 5) if y0 <= 10.0**e <= y1])


def _slope(ax: Axes, name: str, beta: float, top: float, log: bool) -> None:
    """Draw the line bandwidth x intensity up to the highest ceiling, with its name along it."""
    x0, y0 = ax.get_xlim()[0], ax.get_ylim()[0]
    end = model.balance(top, beta)
    colour = style.MEMORY.get(name, style.INK)
    ax.plot([x0, end], [beta * x0 / 1000, top], color=colour, linewidth=style.THICK, zorder=3)
    x = 1.25 * max(x0, 1000 * y0 / beta) if log else 0.3 * end
    near, far = (ax.transData.transform((at, beta * at / 1000)) for at in (x, 2 * x))
    along = {"rotation": np.degrees(np.arctan2(*(far - near)[::-1])), "rotation_mode": "anchor"}
    words, at = f"{name} {beta:,.0f} GB/s", (x, beta * x / 1000)
    style.near(ax, words, at, (-4, 4), ha="left", va="bottom", color=style.ink(colour), **along)


def _balance_points(ax: Axes, levels: Mapping[str, float], tau: float, highest: bool) -> None:
    """Mark where each memory's slope meets a ceiling, with FLOP/byte above the highest ceiling and below others."""
    balances = {name: model.balance(tau, beta) for name, beta in levels.items()}
    pixels = sorted(ax.transData.transform((x, tau))[0] for x in balances.values())
    apart = min(np.diff(pixels), default=np.inf) / ax.figure.dpi  # inches
    for name, balance in balances.items():
        colour = style.MEMORY.get(name, style.INK)
        dotted = {"color": style.RULE, "linewidth": style.THIN, "linestyle": (0, (2, 2))}
        ax.plot([balance] * 2, [ax.get_ylim()[0], tau], zorder=1, **dotted)
        ax.plot(balance, tau, marker="o", markersize=7, color=colour, zorder=5)
        offset, sides = ((0, 7), ("center", "bottom")) if highest else ((6, -5), ("left", "top"))
        unit = "\nFLOP/byte" if highest and apart > 0.9 else " FLOP/byte" if not highest and apart > 1.7 else ""
        look = dict(zip(("ha", "va"), sides, strict=True)) | {"color": style.ink(colour), "path_effects": _halo()}
        style.near(ax, f"{balance:.1f}{unit}", (balance, tau), offset, zorder=6, **look)
