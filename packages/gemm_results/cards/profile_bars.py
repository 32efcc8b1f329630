"""The bars of a profile card (`Section`) as HTML boxes, which take a few kilobytes, less than a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from gemm_look import style
from gemm_look.card import LEFT, facts
from gemm_look.theme import MARK, tag

NUMBERED = 0.03  # share of the card from which a part of a bar has room for its number

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


def bars(section: Section, least: float = 0.0) -> str:
    """HTML of the stacked bars of a `Section`, their totals, and a legend with numbers; "" without parts.

    least: the legend has the parts whose share of some bar is at least this, and those that have a number in a bar;
    `small_parts` has the others.
    """
    if not section.parts:
        return ""
    longest = max(section.total(row) for _, row in section.rows)
    lines = []
    for index, (name, row) in enumerate(section.rows):
        lit, total = index == section.lit % len(section.rows), section.total(row)
        full = total / (longest or 1)
        shares = [(number, part, row.get(part, 0) / (total or 1)) for number, part in enumerate(section.parts, 1)]
        pieces = " ".join(_piece(section, *share, share[2] * full) for share in shares if share[2] > 0)
        edge = f"1.5px solid {MARK if lit else 'transparent'}"
        bar = tag("div", "bar", pieces, border=edge, width=f"{100 * full:.2f}%")
        cells = tag("th", "bar name", escape(name)) + tag("td", "bar place", bar)
        cells += tag("td", "bar total", escape(f"{short_number(total)}{section.unit}"))
        lines.append(tag("tr", "bar row", cells, font_weight="bold" if lit else "normal"))
    return (
        tag("div", "bars title", escape(section.title))
        + tag("table", "bars", "".join(lines))
        + _legend(section, _large(section, least))
    )


def small_parts(section: Section, least: float) -> str:
    """HTML of the legend of the parts that `bars` leaves out of its own; "" if there are none."""
    large = _large(section, least)
    return _legend(section, [part for part in section.parts if part not in large])


def _large(section: Section, least: float) -> list[str]:
    """The parts whose share of some bar is at least `least`, or which are wide enough for a number there."""
    bars_and_totals = [(row, section.total(row) or 1) for _, row in section.rows]
    wide = NUMBERED * (max(total for _, total in bars_and_totals) if bars_and_totals else 1)
    return [
        part
        for part in section.parts
        if any(row.get(part, 0) >= min(least * total, wide) for row, total in bars_and_totals)
    ]


def text_on(colour: str) -> str:
    """The colour of text that is legible on `colour`: nearly black, or white."""
    return style.text_on(colour)


def _piece(section: Section, number: int, part: str, share: float, width: float) -> str:
    """One part of a bar, with its number in the legend if there is room for it. width: its share of the card."""
    colour = section.colour(part)
    body = str(number) if width >= NUMBERED else ""
    return tag(
        "span",
        "bar piece",
        body,
        attributes={"title": f"{number}: {part}"},
        width=f"{100 * share:.2f}%",
        background=colour,
        color=text_on(colour),
    )


def _legend(section: Section, parts: Sequence[str]) -> str:
    rows = []
    for number, part in enumerate(section.parts, 1):
        if part not in parts:
            continue
        colour = section.colour(part)
        cells = tag("td", "swatch", str(number), background=colour, color=text_on(colour))
        cells += tag("th", "legend part", escape(part), attributes=LEFT) + tag(
            "td", "legend number", escape(section.numbers[part])
        )
        rows.append(tag("tr", "legend item", cells))
    return tag("table", "facts", tag("tbody", "legend body", "".join(rows))) if rows else ""


def gauges(pairs: Sequence[tuple[str, str]]) -> str:
    """HTML of (label, number) pairs: small labels over bold numbers, in columns."""
    return facts(pairs, "gauge")


def short_number(value: float) -> str:
    """A number with three digits and a prefix, such as "33.6 M", "12.1 k" or "0.52"."""
    for step, letter in ((1e12, " T"), (1e9, " G"), (1e6, " M"), (1e4, " k")):
        if abs(value) >= step:
            scale = 1e3 if letter == " k" else step
            return f"{value / scale:.3g}{letter}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
