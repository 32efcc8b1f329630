"""A profile card as a picture: stacked bars of a rung below those of the rung before, and a row of numbers.

The module draws names, parts and words that it is given, and does not depend on a profiler.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from gemm_lab.plots import style
from gpu_simulator.errors import LabError

_GREY = "#B6BEC7"
# States of a warp and classes of instructions. Those of a memory have its colour; arithmetic is green.
COLOURS = {
    "long scoreboard": style.MEMORY["DRAM"],
    "LG throttle": style.MEMORY["L2"],
    "MIO throttle": style.MEMORY["shared memory"],
    "short scoreboard": style.MEMORY["registers"],
    "barrier": style.ORANGE,
    "math pipe throttle": style.GREEN,
    "wait": style.SKY,
    "selected": style.INK,
    "not selected": _GREY,
    "dispatch": "#8A8A8A",
    "GMMA": style.tint(style.GREEN, 0.5),
    "no instruction": style.VERMILION,
    "tensor core": style.GREEN,
    "ldmatrix": style.MEMORY["shared memory"],
    "shared memory": style.MEMORY["registers"],
    "global memory": style.MEMORY["DRAM"],
    "async copy": style.MEMORY["L2"],
    "integer and address": style.ORANGE,
    "floating point": style.SKY,
    "control": _GREY,
}
OTHER_COLOUR = "#E3E7EB"
_BAR, _GAP, _HEAD, _LEGEND_ROW, _GAUGES = 0.34, 0.08, 0.34, 0.235, 0.62  # inches
_LEFT, _RIGHT, _LEGEND_COLUMNS = 0.35, 0.35, 2


@dataclass(frozen=True)
class Section:
    """Stacked bars, one for each of `rows`, which are (name, {part: value}).

    numbers: {part: words beside it in the legend}; parts are drawn in this order.   unit: text after a bar's total.
    lit: index of the highlighted row.   parts: the parts that occur in a row.
    """

    title: str
    rows: Sequence[tuple[str, Mapping[str, float]]]
    numbers: Mapping[str, str]
    unit: str = ""
    lit: int = -1
    parts: list[str] = field(init=False)

    def __post_init__(self):
        drawn = [part for part in self.numbers if any(row.get(part) for _, row in self.rows)]
        object.__setattr__(self, "parts", drawn)

    def total(self, row: Mapping[str, float]) -> float:
        """The sum over the parts of a row, which is the length of its bar."""
        return sum(row.get(part, 0) for part in self.parts)

    @staticmethod
    def colour(part: str) -> str:
        """The colour of a part, which is the same in every card."""
        return COLOURS.get(part, OTHER_COLOUR)

    @property
    def height(self) -> float:
        legend = -(-len(self.parts) // _LEGEND_COLUMNS) * _LEGEND_ROW
        return _HEAD + len(self.rows) * (_BAR + _GAP) + 0.1 + legend + 0.22


@style.drawn
def profile_card(title: str, sections: Sequence[Section], gauges: Sequence[tuple[str, str]], caption: str) -> Figure:
    """The card as a figure 8 inches wide. gauges: (label, words).   caption: the conditions of the recording.

    Raises `LabError` if no section has parts.
    """
    sections = [section for section in sections if section.parts]
    if not sections:
        raise LabError("There is nothing to plot: the card has no counts.")
    rows = -(-len(gauges) // 6)
    foot = 0.32 + 0.2 * (caption.count("\n") + 1)
    height = 0.62 + sum(section.height for section in sections) + rows * _GAUGES + foot
    fig = style.figure(style.WIDTH, height)
    fig.text(_LEFT / style.WIDTH, 1 - 0.36 / height, title, fontsize=style.LARGE, fontweight="bold", va="center")
    top = 0.62
    for section in sections:
        _section(fig, section, top)
        top += section.height
    _gauge_row(fig, gauges, top)
    style.caption(fig, caption, _LEFT)
    return fig


def _section(fig: Figure, section: Section, top: float) -> None:
    """Draw a section. top: distance of its upper edge from that of the card, in inches."""
    width, height = fig.get_size_inches()
    names_left = max(len(name) for name, _ in section.rows) * 0.094 + 0.15  # bold letters
    total_right = 0.95
    fig.text(_LEFT / width, 1 - (top + 0.12) / height, section.title, color=style.MUTED, va="center")
    bars = len(section.rows) * (_BAR + _GAP)
    ax = style.axes(
        fig, left=_LEFT + names_left, right=_RIGHT + total_right, top=top + _HEAD, bottom=height - top - _HEAD - bars
    )
    ax.axis("off")
    longest = max(section.total(row) for _, row in section.rows)
    ax.set(xlim=(0, longest), ylim=(len(section.rows) - 0.5, -0.5))
    for y, (name, row) in enumerate(section.rows):
        shines = y == section.lit % len(section.rows)
        total = _bar(ax, y, row, section, shines)
        weight = "bold" if shines else "normal"
        ax.annotate(
            name,
            (0, y),
            xytext=(-8, 0),
            textcoords="offset points",
            ha="right",
            va="center_baseline",
            fontweight=weight,
        )
        ax.annotate(
            f"{short_number(total)}{section.unit}",
            (total, y),
            xytext=(7, 0),
            textcoords="offset points",
            ha="left",
            va="center_baseline",
            fontweight=weight,
        )
    _legend(fig, section, top + _HEAD + bars + 0.1)


def _bar(ax: Axes, y: int, row: Mapping[str, float], section: Section, shines: bool) -> float:
    """Draw the stacked bar of one row and return its length."""
    left = 0.0
    tall = _BAR / (_BAR + _GAP)
    for part in section.parts:
        value = row.get(part, 0.0)
        if value > 0:
            ax.barh(
                y,
                value,
                left=left,
                height=tall,
                color=section.colour(part),
                edgecolor=style.PAPER,
                linewidth=0.7,
                zorder=2,
            )
            left += value
    if shines:
        ax.add_patch(
            Rectangle(
                (0, y - tall / 2), left, tall, fill=False, edgecolor=style.INK, linewidth=1.3, zorder=3, clip_on=False
            )
        )
    return left


def _legend(fig: Figure, section: Section, top: float) -> None:
    """Draw the colour, the name and the numbers of every part, in columns."""
    width, height = fig.get_size_inches()
    column = (width - _LEFT - _RIGHT) / _LEGEND_COLUMNS
    for index, part in enumerate(section.parts):
        x = _LEFT + index % _LEGEND_COLUMNS * column
        y = height - (top + (index // _LEGEND_COLUMNS + 0.5) * _LEGEND_ROW)
        fig.add_artist(
            Rectangle(
                (x, y - 0.055),
                0.13,
                0.11,
                transform=fig.dpi_scale_trans,
                facecolor=section.colour(part),
                edgecolor=style.RULE,
                linewidth=0.5,
            )
        )
        fig.text((x + 0.2) / width, y / height, part, va="center_baseline", fontsize=style.SMALL - 1)
        fig.text(
            (x + column - 0.3) / width,
            y / height,
            section.numbers[part],
            va="center_baseline",
            ha="right",
            fontsize=style.SMALL - 1,
            color=style.MUTED,
        )


def _gauge_row(fig: Figure, gauges: Sequence[tuple[str, str]], top: float) -> None:
    """Draw small labels over bold numbers, six in a row."""
    width, height = fig.get_size_inches()
    column = (width - _LEFT - _RIGHT) / 6
    for index, (label, words) in enumerate(gauges):
        x, y = (_LEFT + index % 6 * column) / width, height - (top + index // 6 * _GAUGES + 0.12)
        fig.text(x, y / height, label, fontsize=style.SMALL - 2, color=style.MUTED, va="center")
        fig.text(x, (y - 0.22) / height, words, fontsize=style.SMALL - 1, fontweight="bold", va="center")


def short_number(value: float) -> str:
    """A number with three digits and a prefix, such as "33.6 M", "12.1 k" or "0.52"."""
    for step, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")):
        if abs(value) >= step:
            scale = 1e3 if letter == " k" else step
            return f"{value / scale:.3g}{letter}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
