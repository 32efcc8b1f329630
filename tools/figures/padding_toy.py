"""Padding of the toy tile: four rows of four words in a memory with four banks, with 0, 1 and 2 unused words a row."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

ROWS = COLUMNS = BANKS = 4
PADS = (0, 1, 2)


def bank(row: int, column: int, pad: int) -> int:
    """The bank of an element if `pad` unused words follow each row."""
    return (row * (COLUMNS + pad) + column) % BANKS


def wavefronts(pad: int) -> int:
    """How many wavefronts a column takes."""
    banks = [bank(row, 0, pad) for row in range(ROWS)]
    return max(map(banks.count, banks))


def padding_toy():
    """Column 0 is marked: in one bank, in four banks, in two."""
    page = Sheet(3.95)
    w, h, top, step = 0.42, 0.3, 1.2, 2.52
    for number, pad in enumerate(PADS):
        left = 0.82 + number * step
        title = ("no padding", "1 unused word a row", "2 unused words a row")[number]
        page.text(left + 2 * w, 0.42, title, bold=True, size=style.BODY)
        page.text(left - 0.12, top - 0.18, "bank", ha="right", colour=style.MUTED)
        for column in range(BANKS):
            page.text(left + (column + 0.5) * w, top - 0.18, str(column), colour=style.MUTED)
        seen = set()
        for word in range(ROWS * (COLUMNS + pad)):
            row, column = divmod(word, COLUMNS + pad)
            line, at = divmod(word, BANKS)
            used, wanted = column < COLUMNS, column == 0
            late = wanted and at in seen
            seen |= {at} if wanted else set()
            page.cell(
                left + at * w,
                top + line * h,
                w,
                h,
                f"{row}·{column}" if used else "–",
                bold=wanted,
                fill=style.CONFLICT if late else style.WAVEFRONT if wanted else "#E4E8EC" if used else style.PAPER,
                colour=None if used else style.MUTED,
            )
        count = wavefronts(pad)
        page.text(
            left + 2 * w,
            top + 6 * h + 0.36,
            f"column 0: {count} wavefront{'s' * (count > 1)}",
            bold=True,
            colour=style.ink(style.CONFLICT if count > 1 else style.WAVEFRONT),
        )
    page.note(0.32, top + 6 * h + 0.66, "row·column; –: a word that nobody uses")
    return page.fig
