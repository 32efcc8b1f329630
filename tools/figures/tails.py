"""The last tile of a matrix whose size is not a multiple of the tile: what is copied, zero and stored."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

ROWS_LEFT, CHUNKS_LEFT = 2, 1  # inside the matrix: M = 130 - 128 rows, K = 40 - 32 in chunks of 8
ROWS, CHUNKS = 6, 4
_BLUE, _REPEAT, _ZERO = style.tint(style.A, 0.55), style.tint(style.A, 0.2), style.PAPER
_STORED = style.tint(style.D, 0.55)


def source_of(row: int, chunk: int) -> str:
    """The text of cell (row, chunk) of the tile of A: the row of A that it is copied from, or "0" past the end of K."""
    return "0" if chunk >= CHUNKS_LEFT else str(128 + min(row, ROWS_LEFT - 1))


def tail_tile():
    """Rows past M repeat the last row, chunks past K are zeros, and only rows and columns inside D are stored."""
    page = Sheet(4.4)
    cell, top, left, right = 0.42, 1.3, 1.55, 5.45
    page.text(0.35, 0.35, "M = 130, K = 40, tiles of 128 × 32: the last tile", ha="left", bold=True, size=style.BODY)

    def fill(row, chunk):
        return _ZERO if chunk >= CHUNKS_LEFT else _REPEAT if row >= ROWS_LEFT else _BLUE

    page.text(left + 2 * cell, top - 0.5, "A in shared memory, in chunks of 8", bold=True)
    page.grid(left, top, ROWS, CHUNKS, cell * 1.05, cell, fill=fill, words=source_of)
    for chunk in range(CHUNKS):
        page.text(left + (chunk + 0.5) * cell * 1.05, top - 0.17, f"k {32 + 8 * chunk}", colour=style.MUTED)
    for row in range(ROWS):
        page.text(left - 0.12, top + (row + 0.5) * cell, f"row {128 + row}", ha="right", colour=style.MUTED)
    page.text(right + 2 * cell, top - 0.5, "D", bold=True)
    page.grid(right, top, ROWS_LEFT, CHUNKS, cell * 1.05, cell, fill=_STORED)
    page.box(right, top + ROWS_LEFT * cell, CHUNKS * cell * 1.05, (ROWS - ROWS_LEFT) * cell, radius=0, dashed=True)
    middle = top + 0.5 * cell * (ROWS + ROWS_LEFT)
    page.text(right + 2.1 * cell, middle, "computed,\nnot stored", va="center", colour=style.MUTED)
    page.arrow(left + CHUNKS * cell * 1.05 + 0.25, top + 3 * cell, right - 0.25, top + 3 * cell, colour=style.MUTED)
    page.text((left + CHUNKS * cell * 1.05 + right) / 2, top + 3 * cell - 0.2, "mma", mono=True)
    words = "Pale: a row of A again, whose products nobody stores. 0: nothing is read, and nothing is added."
    page.note(0.35, 4.12, words)
    return page.fig
