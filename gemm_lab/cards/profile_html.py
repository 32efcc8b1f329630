"""A profile card as HTML: the bars of `plots.Section` drawn with boxes, a few kilobytes instead of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from gemm_lab.cards.html import INK, LINE, MUTED


def bars(section: Any) -> str:
    """The stacked bars of a `plots.Section`, their totals, and a legend with numbers."""
    from gemm_lab.plots import short_number

    if not section.parts:
        return ""
    longest = max(section.total(row) for _, row in section.rows)
    lines = []
    for index, (name, row) in enumerate(section.rows):
        lit = index == section.lit % len(section.rows)
        pieces = "".join(
            f'<div title="{escape(part)}" style="width:{100 * row.get(part, 0) / (section.total(row) or 1):.2f}%;'
            f'background:{section.colour(part)}"></div>'
            for part in section.parts
            if row.get(part, 0) > 0
        )
        weight, edge = ("bold", INK) if lit else ("normal", "transparent")
        length = 100 * section.total(row) / (longest or 1)
        bar = (
            f'<div style="flex:1 1 auto;min-width:0"><div style="display:flex;height:20px;border:1.5px solid {edge};'
            f'width:{length:.2f}%;box-sizing:border-box">{pieces}</div></div>'
        )
        total = f"{short_number(section.total(row))}{section.unit}"
        lines.append(
            f'<div style="display:flex;align-items:center;margin:2px 0;font-weight:{weight}">'
            f'<div style="flex:0 0 244px;text-align:right;padding-right:8px;overflow:hidden;text-overflow:ellipsis;'
            f'white-space:nowrap">{escape(name)}</div>{bar}'
            f'<div style="flex:0 0 100px;padding-left:8px;white-space:nowrap">{escape(total)}</div></div>'
        )
    return (
        f'<div style="color:{MUTED};font-size:12px;margin-top:8px">{escape(section.title)}</div>'
        + "".join(lines)
        + _legend(section)
    )


def _legend(section: Any) -> str:
    items = "".join(
        f'<div style="display:flex;align-items:baseline;width:300px;font-size:12px;margin-right:24px">'
        f'<span style="width:10px;height:10px;background:{section.colour(part)};border:1px solid {LINE};'
        f'margin-right:6px"></span><span style="flex:1 1 auto">{escape(part)}</span>'
        f'<span style="color:{MUTED}">{escape(section.numbers[part])}</span></div>'
        for part in section.parts
    )
    return f'<div style="display:flex;flex-wrap:wrap;max-width:680px;margin:4px 0 2px 0">{items}</div>'


def gauges(pairs: Sequence[tuple[str, str]]) -> str:
    """Small labels over bold numbers."""
    cells = "".join(
        f'<div style="width:108px;margin:2px 4px 2px 0"><div style="color:{MUTED};font-size:11px">{escape(label)}</div>'
        f"<b>{escape(words)}</b></div>"
        for label, words in pairs
    )
    return f'<div style="display:flex;flex-wrap:wrap;margin-top:6px">{cells}</div>'
