"""Padding: eight rows of a tile in lines of 128 bytes, with and without 16 bytes after each row."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

ROWS, CHUNKS = 8, 8  # a chunk has 16 bytes, the width of an 8 x 8 matrix


def place(row: int, chunk: int, pad: int) -> tuple[int, int]:
    """(line, place in the line) of a chunk if `pad` chunks follow each row."""
    return divmod(row * (CHUNKS + pad) + chunk, CHUNKS)


def padding():
    """Chunk 0 of eight rows: all in the same banks, or each in others."""
    page = Sheet(4.6)
    w, h, top = 0.4, 0.3, 1.05
    for number, (title, pad) in enumerate((("128 bytes", 0), ("128 + 16 bytes", 1))):
        left = 0.72 + number * 3.85
        page.text(left + 4 * w, 0.42, f"chunk 0 of rows of {title}", bold=True, size=style.BODY)
        page.text(left - 0.12, top - 0.17, "bank", ha="right", colour=style.MUTED)
        for group in range(CHUNKS):
            page.text(left + (group + 0.5) * w, top - 0.17, str(4 * group), colour=style.MUTED)
        where = {place(row, chunk, pad): (row, chunk) for row in range(ROWS) for chunk in range(CHUNKS)}
        for line in range(ROWS + pad):
            page.text(left - 0.12, top + (line + 0.5) * h, str(line), ha="right", colour=style.MUTED)
            for group in range(CHUNKS):
                row, chunk = where.get((line, group), (None, None))
                wanted = chunk == 0
                lit = style.CONFLICT if pad == 0 and row else style.WAVEFRONT
                shade = "#EEF1F4" if row is not None and row % 2 else "#DFE5EB"
                words = f"r{row}" if wanted else "pad" if row is None else ""
                page.cell(
                    left + group * w,
                    top + line * h,
                    w,
                    h,
                    words,
                    bold=wanted,
                    fill=lit if wanted else style.PAPER if row is None else shade,
                    colour=None if wanted else style.MUTED,
                )
        places = [place(row, 0, pad)[1] for row in range(ROWS)]
        waves = max(map(places.count, places))
        page.text(
            left + 4 * w,
            top + 9 * h + 0.3,
            f"{waves} wavefront{'s' * (waves > 1)}",
            bold=True,
            colour=style.ink(style.CONFLICT if waves > 1 else style.WAVEFRONT),
        )
        banks = ", ".join(str(4 * group) for group in places)
        says = f"banks {banks}" if pad else "every row begins in bank 0"
        page.text(left + 4 * w, top + 9 * h + 0.6, says, colour=style.MUTED)
    page.text(0.25, top + 4 * h, "line of 128 bytes", colour=style.MUTED, rotation=90)
    return page.fig
