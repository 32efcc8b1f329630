"""ldmatrix: the row whose address each lane gives, what each lane receives, .trans, and the limits of one stride."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.mma_layouts import Mma, fragment_load, ldmatrix

LANE = 5  # the lane that the pictures mark
_MATRIX = tuple(style.tint(colour, 0.34) for colour in (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE))
_QUADS = tuple(style.tint(colour, 0.36) for colour in style.GROUPS)


def ldmatrix_x4():
    """Left: the rows of A's 16 × 16 tile, with the lane that gives each address. Right: what every lane receives."""
    page = Sheet(5.35)
    high, chunk, cell, gap = 0.215, 1.3, 0.37, 0.3
    x, y, x_r = 0.6, 0.98, 4.45
    load = fragment_load(Mma("m16n8k16", "f16"), "A")
    page.text(x, 0.4, "lanes name rows", ha="left", bold=True, size=style.BODY)
    page.note(x, y - 0.25, "A in shared memory, 16 bytes a box")
    for lane, (row, column) in enumerate(zip(load.rows, load.chunks, strict=True)):
        _cell(page, x + column * chunk, y + row * high + row // 8 * gap, chunk, high, lane, _MATRIX[lane // 8])
        if column == 0 and row % 8 in (0, 7):
            page.text(x - 0.08, y + (row + 0.5) * high + row // 8 * gap, str(row), ha="right", colour=style.MUTED)
    page.arrow(x + 2 * chunk + 0.2, y + 8 * high + gap / 2, x_r - 0.25, y + 8 * high + gap / 2, lw=2, head=14)
    page.text(x_r, 0.4, "lanes receive pairs", ha="left", bold=True, size=style.BODY)
    _, receives = ldmatrix(4)
    for lane in range(32):
        for register in range(4):
            matrix, row, column = receives[lane, register, 0]
            left = x_r + register // 2 * (4 * cell + 0.18)
            top = y + register % 2 * (8 * high + gap)
            _cell(page, left + column // 2 * cell, top + row * high, cell, high, lane, _MATRIX[matrix])
            if lane == 0:
                page.note(left, top - 0.12, f"register {register}")
    page.note(
        x,
        5.0,
        f"T{LANE} names row {LANE} of the first matrix. It receives two halves of row {LANE // 4} of each of the four.",
    )
    return page.fig


def _cell(page: Sheet, x: float, y: float, w: float, h: float, lane: int, fill: str) -> None:
    mine = lane == LANE
    page.cell(x, y, w, h, f"T{lane}", fill=fill, bold=mine)
    if mine:
        page.box(x, y, w, h, fill="none", edge=style.INK, lw=2, radius=0, z=4)


def ldmatrix_trans():
    """One 8 × 8 matrix of B, stored by rows of k: which lane receives which element, without and with .trans."""
    page = Sheet(4.1)
    w, h, y = 0.4, 0.29, 1.12
    for x, transposed, title, says in (
        (0.6, False, "ldmatrix", f"T{LANE} gets two of a row"),
        (4.4, True, "ldmatrix.trans", f"T{LANE} gets two of a column: b0 of mma"),
    ):
        _, receives = ldmatrix(1, transposed)
        page.text(x, 0.4, title, ha="left", mono=True, bold=True, size=style.BODY)
        page.note(x, 0.66, says)
        for column in range(8):
            page.text(x + (column + 0.5) * w, y - 0.13, str(column), colour=style.MUTED)
            page.text(x - 0.13, y + (column + 0.5) * h, str(column), colour=style.MUTED)
        marked = []
        for lane in range(32):
            for half in range(2):
                _, row, column = receives[lane, 0, half]
                page.cell(
                    x + column * w, y + row * h, w, h, f"T{lane}", fill=_QUADS[lane // 4], lw=1, bold=lane == LANE
                )
                if lane == LANE:
                    marked.append((row, column))
        (top, left), (bottom, right) = min(marked), max(marked)
        page.box(
            x + left * w,
            y + top * h,
            (right - left + 1) * w,
            (bottom - top + 1) * h,
            fill="none",
            edge=style.INK,
            lw=2,
            radius=0,
            z=4,
        )
    page.note(
        0.35,
        y + 8 * h + 0.3,
        "rows: k, as B lies in shared memory; columns: n. The same eight addresses, the same bytes read.",
    )
    return page.fig


def one_stride():
    """Eight rows in shared memory at addresses that wmma can express, and at those that ldmatrix can."""
    page = Sheet(3.75)
    w, h, y, chunk = 0.4, 0.26, 1.2, 2
    for x, place, title, says in (
        (0.5, lambda row: chunk, "wmma: one base, one stride", "row r lies at base + r · stride"),
        (4.35, lambda row: chunk ^ row, "ldmatrix: eight addresses", "row r lies wherever lane r says"),
    ):
        page.text(x, 0.4, title, ha="left", bold=True, size=style.BODY)
        page.note(x, 0.66, says)
        page.note(x, y - 0.15, "32 banks")
        page.grid(
            x,
            y,
            8,
            8,
            w,
            h,
            edge=style.PAPER,
            lw=1.5,
            words=lambda i, j, at=place: str(i) if at(i) == j else "",
            fill=lambda i, j, at=place: style.LIT if at(i) == j else style.UNLIT,
        )
    page.note(
        0.35,
        y + 8 * h + 0.27,
        "Each cell is 16 bytes in four banks, each line 128 bytes; lit: the chunk wanted of row r.",
    )
    return page.fig
