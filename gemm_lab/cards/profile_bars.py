"""The bars of a profile card (`plots.Section`) as HTML boxes, which take a few kilobytes, less than a picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from gemm_lab.cards.card import LEFT, facts
from gemm_lab.cards.theme import MARK, tag

NUMBERED = 0.03  # share of the card from which a part of a bar has room for its number


def bars(section: Any, least: float = 0.0) -> str:
    """HTML of the stacked bars of a `plots.Section`, their totals, and a legend with numbers; "" without parts.

    least: the legend has the parts whose share of some bar is at least this, and those that have a number in a bar;
    `small_parts` has the others.
    """
    from gemm_lab.plots import short_number

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


def small_parts(section: Any, least: float) -> str:
    """HTML of the legend of the parts that `bars` leaves out of its own; "" if there are none."""
    large = _large(section, least)
    return _legend(section, [part for part in section.parts if part not in large])


def _large(section: Any, least: float) -> list[str]:
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
    from gemm_lab.plots import style

    return style.text_on(colour)


def _piece(section: Any, number: int, part: str, share: float, width: float) -> str:
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


def _legend(section: Any, parts: Sequence[str]) -> str:
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
