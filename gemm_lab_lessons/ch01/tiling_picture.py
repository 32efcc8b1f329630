"""Draws the tile explorer's still picture: the tile in a corner of the matrices, and bars for its limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab.plots.style import Card
from gemm_lab.roofline_model import rounded_down

CORNER, SIDE = 640, 1.9  # elements of the corner of D that is drawn, and its inches
K_SIDE = 0.75  # inches of A and B along K


def picture(facts: Any, bars: Sequence[Any]) -> Card:
    """The picture, eight inches wide, of `TileFacts` and the `Bar`s that belong to them."""
    page = Sheet(3.95)
    m, n, k = facts.block
    scale = SIDE / CORNER
    x, y = 0.3 + K_SIDE + 0.15, 0.55 + K_SIDE + 0.15  # of D
    at_m, at_n = (size if 2 * size <= CORNER else 0 for size in (m, n))
    for colour, box in (
        (style.A, (0.3, y, K_SIDE, SIDE)),
        (style.B, (x, 0.55, SIDE, K_SIDE)),
        (style.D, (x, y, SIDE, SIDE)),
    ):
        page.box(*box, fill=style.tint(colour, 0.2), edge=style.RULE, radius=0)
    deep = min(k * scale, K_SIDE)
    page.box(0.3, y + at_m * scale, K_SIDE, m * scale, fill=style.tint(style.A, 0.35), edge="none", radius=0)
    page.box(0.3, y + at_m * scale, deep, m * scale, fill=style.A, edge="none", radius=0)
    page.box(x + at_n * scale, 0.55, n * scale, K_SIDE, fill=style.tint(style.B, 0.35), edge="none", radius=0)
    page.box(x + at_n * scale, 0.55, n * scale, deep, fill=style.B, edge="none", radius=0)
    page.box(x + at_n * scale, y + at_m * scale, n * scale, m * scale, fill=style.D, edge=style.INK, radius=0)
    page.text(x, 0.35, f"B: {k} × {n} at a time", ha="left", colour=style.ink(style.B))
    below = y + SIDE + 0.2
    page.text(0.3, below, f"A: {m} × {k}", ha="left", colour=style.ink(style.A))
    page.text(x + SIDE, below, f"tile of D: {m} × {n}", ha="right", colour=style.ink(style.D))
    left, wide, top = x + SIDE + 0.45, 7.75 - (x + SIDE + 0.45), 0.35
    page.text(
        left, top, f"{facts.gpu.name}: {rounded_down(facts.intensity)} FLOP for each byte read", ha="left", bold=True
    )
    for place, bar in enumerate(bars):
        line = top + 0.4 + place * 0.8
        page.text(left, line, bar.name, ha="left", bold=True)
        page.text(
            left + wide,
            line,
            bar.says.replace("none is left for the rest of the kernel", "no room is left"),
            ha="right",
        )
        page.box(left, line + 0.12, wide, 0.17, fill=style.UNLIT, edge="none", radius=0)
        colour = style.D if bar.good else style.CONFLICT
        page.box(left, line + 0.12, wide * min(bar.share, 1), 0.17, fill=colour, edge="none", radius=0)
        page.text(left, line + 0.41, bar.words, ha="left", colour=style.MUTED)
    return page.fig
