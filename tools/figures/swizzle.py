"""The swizzle of a 4x4 tile: the bank of an element is column XOR row."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

_N = 4
_COLUMN = tuple(style.tint(colour, 0.6) for colour in (style.SKY, style.YELLOW, style.PURPLE, "#A0A0A0"))


def swizzle_xor():
    """The tile before, the bits of one row, the tile after: a column is in four banks, and rows keep their elements."""
    page = Sheet(3.9)
    cell, top = 0.44, 1.3
    size = _N * cell
    left, right, middle = 0.85, 5.8, 4.08

    def matrix(x, title, value):
        page.text(x + size / 2, 0.45, title, bold=True, size=style.BODY)
        page.grid(
            x,
            top,
            _N,
            _N,
            cell,
            cell,
            edge=style.PAPER,
            lw=1.5,
            words=lambda i, j: str(value(i, j)),
            bold=True,
            fill=lambda i, j: _COLUMN[value(i, j) % _N],
        )
        for j in range(_N):
            page.text(x + (j + 0.5) * cell, top - 0.17, str(j), colour=style.MUTED)
            page.text(x - 0.14, top + (j + 0.5) * cell, str(j), colour=style.MUTED, ha="right")
        page.text(x - 0.45, top + size / 2, "row", colour=style.MUTED, rotation=90)
        page.text(x + size / 2, top - 0.42, "bank", colour=style.MUTED)

    matrix(left, "before", lambda i, j: _N * i + j)
    matrix(right, "after", lambda i, j: _N * i + (j ^ i))
    page.text(middle, 0.45, "row 2, in bits", bold=True, size=style.BODY)
    row = 2
    page.text(middle, top - 0.17, "column XOR row = bank", colour=style.MUTED)
    for j in range(_N):
        y = top + (j + 0.5) * cell
        page.text(middle + 0.12, y, f"{j:02b}  ^  {row:02b}  =  {j ^ row:02b}", mono=True, size=style.BODY)
        page.cell(middle - 1.3, y - 0.15, 0.34, 0.3, str(_N * row + j), fill=_COLUMN[j], bold=True)
    y = top + size
    page.text(left + size / 2, y + 0.42, "a column: 4 wavefronts", bold=True, colour=style.ink(style.CONFLICT))
    page.text(right + size / 2, y + 0.42, "a column: 1 wavefront", bold=True, colour=style.ink(style.WAVEFRONT))
    return page.fig
