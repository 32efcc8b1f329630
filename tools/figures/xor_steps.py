"""Reading along a row of a swizzled tile: a step of c chunks is an XOR with c, whatever the row."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

CHUNKS, ROW = 8, 5  # chunks in a row, and the row of the picture


def places(row: int, chunks: int = CHUNKS) -> list[int]:
    """The places of the chunks 0, 1, 2 … of a row."""
    return [chunk ^ row % chunks for chunk in range(chunks)]


def xor_steps():
    """The places of row 5 in the order in which a lane reads them, and the operation that leads to each."""
    page = Sheet(4.25)
    w, h, left, top = 0.72, 0.46, 1.62, 1.25
    visits = places(ROW)
    page.text(0.35, 0.38, f"a lane in row {ROW} reads chunks 0 to 7", ha="left", bold=True, size=style.BODY)
    page.text(left - 0.2, top - 0.2, "place", ha="right", colour=style.MUTED)
    page.text(left - 0.2, top + h / 2, "holds", ha="right", colour=style.MUTED)
    for place in range(CHUNKS):
        page.text(left + (place + 0.5) * w, top - 0.2, str(place), colour=style.MUTED)
    page.grid(
        left,
        top,
        1,
        CHUNKS,
        w,
        h,
        fill=lambda i, j: style.LIT if visits[0] == j else style.UNLIT,
        words=lambda i, j: f"chunk {visits.index(j)}",
        edge=style.PAPER,
        lw=1.5,
    )
    y = top + h + 0.55
    rows = (
        ("chunk c", [str(c) for c in range(CHUNKS)]),
        (f"place c ^ {ROW}", [str(place) for place in visits]),
        (
            "difference",
            [
                "",
                *(f"{after - before:+d}".replace("-", "−") for before, after in zip(visits, visits[1:], strict=False)),
            ],
        ),
        ("address", ["base", *(f"^ {16 * c}" for c in range(1, CHUNKS))]),
    )
    for number, (title, cells) in enumerate(rows):
        last = number == len(rows) - 1
        if last:
            page.box(left - 0.05, y - 0.19, CHUNKS * w + 0.1, 0.38, fill=style.tint(style.LIT, 0.5), edge="none")
        page.text(left - 0.2, y, title, ha="right", colour=style.INK if last else style.MUTED, bold=last)
        for c, words in enumerate(cells):
            page.text(left + (c + 0.5) * w, y, words, mono=True, bold=last)
        y += 0.42
    page.note(0.35, y + 0.1, "The differences depend on the row, the XOR does not: all 32 lanes step alike.")
    return page.fig
