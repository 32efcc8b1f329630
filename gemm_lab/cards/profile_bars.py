"""The bars of a profile card (`plots.Section`) as HTML boxes, which take a few kilobytes, less than a picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from gemm_lab.cards.theme import MARK, tag


def bars(section: Any) -> str:
    """HTML of the stacked bars of a `plots.Section`, their totals, and a legend with numbers; "" without parts."""
    from gemm_lab.plots import short_number

    if not section.parts:
        return ""
    longest = max(section.total(row) for _, row in section.rows)
    lines = []
    for index, (name, row) in enumerate(section.rows):
        lit, total = index == section.lit % len(section.rows), section.total(row)
        pieces = "".join(_piece(section, part, row.get(part, 0) / (total or 1)) for part in section.parts)
        edge = f"1.5px solid {MARK if lit else 'transparent'}"
        bar = tag("div", "bar", pieces, border=edge, width=f"{100 * total / (longest or 1):.2f}%")
        label = tag("div", "bar name", escape(name)) + tag("div", "bar place", bar)
        label += tag("div", "bar total", escape(f"{short_number(total)}{section.unit}"))
        lines.append(tag("div", "bar row", label, font_weight="bold" if lit else "normal"))
    return tag("div", "bars title", escape(section.title)) + "".join(lines) + _legend(section)


def _piece(section: Any, part: str, share: float) -> str:
    if share <= 0:
        return ""
    colour = section.colour(part)
    return tag("div", "bar piece", attributes={"title": part}, width=f"{100 * share:.2f}%", background=colour)


def _legend(section: Any) -> str:
    items = (
        tag(
            "div",
            "legend item",
            tag("span", "swatch", background=section.colour(part))
            + tag("span", "legend part", escape(part))
            + tag("span", "muted", escape(section.numbers[part])),
        )
        for part in section.parts
    )
    return tag("div", "legend", "".join(items))


def gauges(pairs: Sequence[tuple[str, str]]) -> str:
    """HTML of (label, number) pairs: small labels over bold numbers."""
    cells = (
        tag("div", "gauge", f"{tag('div', 'label', escape(label))}<b>{escape(words)}</b>") for label, words in pairs
    )
    return tag("div", "gauges", "".join(cells))
