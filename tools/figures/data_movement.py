"""Data movement: three ways to multiply on the simple computer, and three orders of the same loops."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

_NAMES = (("A", style.A), ("B", style.B), ("D", style.C))
_N, _TILE = 8, 4  # cells along an edge of a matrix, and of a tile
_FROM = {"A": (4, 0), "B": (0, 4), "D": (4, 4)}  # first row and column of the part in fast memory


def naive_best_tiled():
    """One element at a time, everything at once, one tile at a time: what is in fast memory and what moves."""
    page = Sheet(4.75)
    cell, gap, panel, pitch = 0.083, 0.12, 2.34, 2.48
    edge = _N * cell
    cases = (
        ("one element at a time", 1, "every use is a load"),
        ("everything fits", _N, "every element moves once"),
        ("tiles of t × t", _TILE, "every load is used t times"),
    )
    start = (page.width - 2 * pitch - panel) / 2
    for k, (title, held, reason) in enumerate(cases):
        left = start + k * pitch
        middle = left + panel / 2
        page.text(middle, 0.4, title, size=style.BODY, bold=True)
        page.box(left, 0.68, panel, 1.4, fill=style.tint(style.MEMORY["DRAM"], 0.1), edge="none")
        page.box(left, 2.78, panel, 1.15, fill=style.tint(style.MEMORY["shared memory"], 0.14), edge="none")
        page.note(left + 0.1, 1.91, "slow memory")
        page.note(left + 0.1, 3.76, "fast memory")
        for m, (name, colour) in enumerate(_NAMES):
            x = middle - (3 * edge + 2 * gap) / 2 + m * (edge + gap)
            page.text(x + edge / 2, 0.86, name, colour=style.ink(colour), bold=True)
            page.grid(
                x,
                1.02,
                _N,
                _N,
                cell,
                cell,
                lw=0.4,
                edge=style.UNLIT_EDGE,
                fill=lambda i, j, c=colour, n=name, h=held: _shade(c, n, h, i, j),
            )
            size = held * cell
            page.grid(
                x + (edge - size) / 2,
                3.24 - size / 2,
                held,
                held,
                cell,
                cell,
                fill=colour,
                lw=0.4,
                edge=style.tint(colour, 0.6),
            )
            ends = (2.14, 2.72) if name != "D" else (2.72, 2.14)
            page.arrow(x + edge / 2, ends[0], x + edge / 2, ends[1], colour=colour, lw=2.0, head=12)
        page.text(middle, 4.35, reason, bold=True)
    return page.fig


def _is_held(name: str, held: int, i: int, j: int) -> bool:
    if held == _N:
        return True
    row, col = _FROM[name]
    return row <= i < row + held and col <= j < col + held


def _shade(colour: str, name: str, held: int, i: int, j: int) -> str:
    """The colour of an element in slow memory: strong if it is in fast memory, pale in the strips of a tile."""
    if _is_held(name, held, i, j):
        return colour
    row, col = _FROM[name]
    strip = row <= i < row + held if name == "A" else col <= j < col + held
    return style.tint(colour, 0.35) if held == _TILE and name != "D" and strip else style.PAPER


def loop_orders():
    """Three orders of the loops: which matrix's element stays in the innermost loop, and how the others change."""
    page = Sheet(5.05)
    n, cell = 6, 0.18
    edge = n * cell
    top, step, x0, pitch = 0.95, 1.32, 2.66, 1.92
    orders = (  # what the innermost loop does to A, B and D
        ("i, j, k", "row", "column", "stays"),
        ("i, k, j", "stays", "row", "row"),
        ("j, k, i", "column", "stays", "column"),
    )
    at = {"A": (2, 3), "B": (3, 1), "D": (2, 1)}  # i = 2, k = 3, j = 1
    index = {"A": "i,k", "B": "k,j", "D": "i,j"}
    page.note(0.4, 0.42, "loops, outer to inner")
    for m, (name, colour) in enumerate(_NAMES):
        page.text(
            x0 + m * pitch + edge / 2,
            0.42,
            f"{name}[{index[name]}]",
            colour=style.ink(colour),
            bold=True,
            size=style.BODY,
        )
    page.line((0.4, 0.66), (x0 + 2 * pitch + edge, 0.66))
    for r, (order, *motions) in enumerate(orders):
        y = top + r * step
        page.text(0.4, y + edge / 2, order, mono=True, size=style.LARGE, bold=True, ha="left")
        for m, motion in enumerate(motions):
            name, colour = _NAMES[m]
            x, (row, col) = x0 + m * pitch, at[name]

            def fill(i, j, motion=motion, row=row, col=col, colour=colour):
                if motion == "stays":
                    return colour if (i, j) == (row, col) else style.PAPER
                along = i == row if motion == "row" else j == col
                return style.tint(colour, 0.45) if along else style.PAPER

            page.grid(x, y, n, n, cell, cell, fill=fill, lw=0.5, edge=style.UNLIT_EDGE)
            dark, across, down = style.ink(colour), y + (row + 0.5) * cell, x + (col + 0.5) * cell
            if motion == "row":
                page.arrow(x + 0.05, across, x + edge - 0.03, across, colour=dark)
            elif motion == "column":
                page.arrow(down, y + 0.05, down, y + edge - 0.03, colour=dark)
            stays = motion == "stays"
            page.text(
                x - 0.1,
                y + edge / 2,
                "stays" if stays else "streams",
                ha="right",
                bold=stays,
                colour=dark if stays else style.MUTED,
            )
    return page.fig
