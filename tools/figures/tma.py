"""TMA: one thread requests a box of a tensor map; the unit copies and swizzles it, and an mbarrier counts the bytes."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.swizzle import row_swizzle

ROWS, ROW_BYTES, CHUNK = 8, 128, 16  # the box: 8 rows of 64 BF16
CHUNKS, BOX_BYTES = ROW_BYTES // CHUNK, ROWS * ROW_BYTES
_HUES = tuple(style.tint(colour, 0.55) for colour in (*style.GROUPS[:5], style.VERMILION, style.YELLOW, "#8A8A8A"))


def chunk_at(row: int, place: int) -> int:
    """The number of the 16-byte chunk of a row that is at `place` after the 128-byte swizzle."""
    return row_swizzle(ROW_BYTES)(row * ROW_BYTES + place * CHUNK) // CHUNK % CHUNKS


def tma_box():
    """A matrix in global memory with its tensor map, the swizzled tile, and the barrier's two counts."""
    page = Sheet(6.0)
    x, y, w, h = 0.45, 1.15, 2.1, 2.15
    page.text(0.45, 0.38, "global memory", ha="left", bold=True, size=style.BODY)
    page.note(0.45, 0.65, "a matrix and its tensor map")
    page.box(x, y, w, h, fill=style.tint(style.A, 0.14), edge=style.A, radius=0, lw=1.4)
    bx, by, bw, bh = x + 0.75, y + 0.62, 0.62, 0.4
    page.box(bx, by, bw, bh, fill=style.A, edge=style.A, radius=0)
    page.line((x, by), (bx, by), colour=style.MUTED, dashed=True, z=3)
    page.line((bx, y), (bx, by), colour=style.MUTED, dashed=True, z=3)
    page.text((x + bx) / 2, by - 0.14, "k")
    page.text(bx + 0.14, (y + by) / 2, "m", ha="left")
    page.text(x + w / 2, y + 1.42, f"box: {ROWS} rows of\n{ROW_BYTES // 2} BF16 at (k, m)", va="center")
    page.note(x, y + h + 0.24, "map: address, sizes, row stride,")
    page.note(x, y + h + 0.48, "box, element type, swizzle")

    cell, left, top = 0.31, 4.98, 1.15
    page.text(left, 0.38, "shared memory", ha="left", bold=True, size=style.BODY)
    page.note(left, 0.65, f"{ROWS} rows, 128-byte swizzle")
    page.grid(
        left,
        top,
        ROWS,
        CHUNKS,
        cell,
        cell * 0.92,
        edge=style.PAPER,
        lw=1.2,
        fill=lambda i, j: _HUES[chunk_at(i, j)],
        words=lambda i, j: str(chunk_at(i, j)),
    )
    page.note(left, top + ROWS * cell * 0.92 + 0.24, "number: 16-byte chunk of its row")
    page.note(left, top + ROWS * cell * 0.92 + 0.48, "place = chunk XOR (row mod 8)")
    page.arrow(bx + bw + 0.06, by + bh / 2, left - 0.1, by + bh / 2, colour=style.INK, lw=1.8)
    page.text((x + w + left) / 2, by - 0.33, "one thread issues", colour=style.MUTED)
    page.text((x + w + left) / 2, by - 0.05, "cp.async.bulk.tensor", mono=True)
    page.text(
        (x + w + left) / 2, by + bh + 0.12, "no registers, no\naddress arithmetic", va="center", colour=style.MUTED
    )

    page.line((0.45, 4.22), (page.width - 0.45, 4.22))
    page.text(0.45, 4.5, "its mbarrier", ha="left", bold=True)
    columns = ((2.05, "init 1"), (3.6, f"arrive.expect_tx {BOX_BYTES}"), (5.4, "half landed"), (6.9, "all: phase over"))
    counts = ((1, 0), (0, BOX_BYTES), (0, BOX_BYTES // 2), (1, 0))
    for number, ((x, title), values) in enumerate(zip(columns, counts, strict=True)):
        last = number == len(columns) - 1
        page.text(x, 4.5, title, mono=number < 2, bold=last)
        for line, value in enumerate(values):
            page.text(x, 4.82 + 0.28 * line, str(value), mono=True)
    page.note(0.45, 4.82, "arrivals due")
    page.note(0.45, 5.1, "bytes due")
    page.note(0.45, 5.55, "A part of the box outside the matrix arrives as zeros and counts like the rest.")
    return page.fig
