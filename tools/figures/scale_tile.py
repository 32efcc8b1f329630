"""How 128 rows of four scales lie in 512 bytes of memory, as the tensor cores of Blackwell read them."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

ROWS, COLUMNS, GROUP = 128, 4, 32  # of a tile; rows that lie below each other in memory
COLOURS = (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE)


def place(row: int, column: int) -> int:
    """The byte of a scale in its tile."""
    return row % GROUP * 16 + row // GROUP * COLUMNS + column


def scale_tile():
    """The tile as a matrix with its four groups of rows, and the same bytes as memory has them, 16 to a line."""
    page = Sheet(4.35)
    w, h, left, right, top = 0.27, 0.3, 1.2, 3.3, 1.15
    page.text(0.3, 0.36, "Scales of one byte: 128 rows, 4 to a row", ha="left", bold=True, size=style.BODY)
    page.text(left + 2 * w, top - 0.45, "as a matrix", bold=True)
    page.text(right + 8 * w, top - 0.45, f"in memory: {ROWS * COLUMNS} bytes, 16 to a line", bold=True)
    for column in range(COLUMNS):
        page.text(left + (column + 0.5) * w, top - 0.17, str(column), colour=style.MUTED)
    for number, colour in enumerate(COLOURS):
        y, fill = top + number * 2.6 * h, style.tint(colour, 0.45)
        page.grid(left, y, 2, COLUMNS, w, h, fill=fill, edge=style.PAPER)
        page.text(left + 2 * w, y + 2.28 * h, "…", colour=style.MUTED)
        for line in range(2):
            page.text(left - 0.12, y + (line + 0.5) * h, f"row {number * GROUP + line}", ha="right", colour=style.MUTED)
    for byte in range(0, 16, COLUMNS):
        page.text(right + (byte + 0.5) * w, top - 0.17, str(byte), colour=style.MUTED)
    for line, row in enumerate((0, 1, 2, 3, None, GROUP - 1)):
        y = top + line * 1.25 * h
        if row is None:
            page.text(right + 8 * w, y + h / 2, "…", colour=style.MUTED)
            continue
        page.text(right - 0.12, y + h / 2, str(place(row, 0)), ha="right", colour=style.MUTED)
        for number, colour in enumerate(COLOURS):
            x = right + number * COLUMNS * w
            page.grid(x, y, 1, COLUMNS, w, h, fill=style.tint(colour, 0.45), edge=style.PAPER)
            page.text(
                x + 2 * w, y + h / 2, f"row {row + number * GROUP}", colour=style.text_on(style.tint(colour, 0.45))
            )
    page.text(
        right, top + 6 * 1.25 * h + 0.3, "One line has the scales of four rows,\n32 apart.", ha="left",
        colour=style.MUTED, va="top",
    )  # fmt: skip
    return page.fig
