"""Tiles: the four nested levels, the intensity of a tile's shape, and which warps read the same strip."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gemm_results import roofline_model as roofline
from gpu_simulator.hardware import data_sheets as hardware

BLOCK_M, BLOCK_N, BLOCK_K = 256, 128, 64
WARP_M, WARP_N = 64, 64
MMA_M, MMA_N, MMA_K = 16, 8, 8


def _tiled(page, x, y, w, h, depth, rows, cols, lit, whole=True):
    """Draw D at (x, y), w x h inches, in rows x cols tiles, with A's strip on its left and B's above.

    depth: inches along k.   lit: row and column of the tile that the next panel enlarges.
    whole: outline everything, because it is the highlighted tile of the panel before.
    """
    gap, (i, j) = 0.07, lit
    th, tw = h / rows, w / cols
    x_a, y_b = x - gap - depth, y - gap - depth
    for colour, box in ((style.A, (x_a, y, depth, h)), (style.B, (x, y_b, w, depth))):
        page.box(
            *box,
            fill=style.tint(colour, 0.14),
            edge=colour if whole else style.UNLIT_EDGE,
            radius=0,
            lw=1.6 if whole else 0.7,
        )
    page.grid(
        x,
        y,
        rows,
        cols,
        tw,
        th,
        fill=style.tint(style.C, 0.1),
        edge=style.tint(style.C, 0.5),
        lw=0.7,
        outline=style.C if whole else style.UNLIT_EDGE,
    )
    page.box(x_a, y + i * th, depth, th, fill=style.A, edge=style.A, radius=0, lw=0.6, z=4)
    page.box(x + j * tw, y_b, tw, depth, fill=style.B, edge=style.B, radius=0, lw=0.6, z=4)
    page.box(x + j * tw, y + i * th, tw, th, fill=style.C, edge=style.C, radius=0, lw=0.6, z=4)


def tiling_levels():
    """Grid, block, warp, mma: the highlighted tile of one panel is all of the next."""
    page = Sheet(7.15)
    h = 1.72  # inches of D in each panel; a panel's own scale
    columns, rows = (0.5, 4.3), (0.42, 3.65)

    def panel(number, level, where, side, x_side, y_side):
        x, y = columns[(number - 1) % 2], rows[(number - 1) // 2]
        page.text(x, y, f"{number}  {level}", ha="left", bold=True, size=style.BODY)
        page.note(x, y + 0.27, where)
        page.text(x_side, y_side, side, ha="left", va="center")

    depth = h / 4
    x, y = columns[0] + depth + 0.07, rows[0] + 1.05
    _tiled(page, x, y, h, h, depth, 4, 8, (1, 2), whole=False)
    panel(
        1,
        "grid",
        "all of A, B and D in DRAM",
        f"D in tiles of\n{BLOCK_M} × {BLOCK_N},\none per block",
        x + h + 0.16,
        y + h / 2,
    )
    page.text(x - 0.07 - depth / 2, y - 0.2, "A", bold=True, colour=style.ink(style.A))
    page.text(x + h + 0.16, y - 0.07 - depth / 2, "B", bold=True, colour=style.ink(style.B), ha="left")

    depth = h * BLOCK_K / BLOCK_M
    x, w = columns[1] + depth + 0.07, h * BLOCK_N / BLOCK_M
    _tiled(page, x, y, w, h, depth, BLOCK_M // WARP_M, BLOCK_N // WARP_N, (1, 1))
    panel(
        2,
        "block",
        f"A and B, {BLOCK_K} deep, in shared memory",
        f"{BLOCK_M} × {BLOCK_N} in\ntiles of {WARP_M} × {WARP_N},\none per warp",
        x + w + 0.16,
        y + h / 2,
    )

    depth = h * MMA_K / WARP_M
    x, y = columns[0] + depth + 0.07, rows[1] + 1.4
    _tiled(page, x, y, h, h, depth, WARP_M // MMA_M, WARP_N // MMA_N, (1, 3))
    panel(
        3,
        "warp",
        f"A and B, {MMA_K} deep, in registers",
        f"{WARP_M} × {WARP_N} in\ntiles of {MMA_M} × {MMA_N},\none per mma",
        x + h + 0.16,
        y + h / 2,
    )

    cell = h / MMA_M
    x = columns[1] + MMA_K * cell + 0.07
    for left, top, m, n, colour in (
        (x, y, MMA_M, MMA_N, style.C),
        (x - 0.07 - MMA_K * cell, y, MMA_M, MMA_K, style.A),
        (x, y - 0.07 - MMA_K * cell, MMA_K, MMA_N, style.B),
    ):
        page.grid(left, top, m, n, cell, cell, fill=colour, edge=style.PAPER, lw=0.8)
    panel(
        4,
        "mma",
        "one tensor-core instruction",
        f"{MMA_M} × {MMA_N}, from\n{MMA_M} × {MMA_K} of A and\n{MMA_K} × {MMA_N} of B",
        x + MMA_N * cell + 0.16,
        y + h / 2,
    )
    return page.fig


def tile_intensity():
    """A tile of D and the strips that it needs; the FLOP/byte of four tiles beside the T4's balance point for DRAM."""
    t4 = roofline.roofline(hardware.gpu("t4"), tflops=roofline.PEAK_T4)
    page = Sheet(4.25)
    x, y, w, h, strip = 1.1, 1.58, 1.15, 1.65, 0.42
    page.box(x, y, w, h, fill=style.C, edge=style.C, radius=0)
    page.box(x - strip - 0.1, y, strip, h, fill=style.A, edge=style.A, radius=0)
    page.box(x, y - strip - 0.1, w, strip, fill=style.B, edge=style.B, radius=0)
    row, column = y + 0.28, x + w - 0.36
    page.box(x - strip - 0.1, row, strip, 0.14, fill=style.LIT, edge=style.INK, radius=0, lw=0.8)
    page.arrow(x - 0.08, row + 0.07, x + w - 0.05, row + 0.07, colour=style.PAPER, lw=1.6)
    page.box(column, y - strip - 0.1, 0.14, strip, fill=style.LIT, edge=style.INK, radius=0, lw=0.8)
    page.arrow(column + 0.07, y - 0.08, column + 0.07, y + h - 0.05, colour=style.PAPER, lw=1.6)
    page.text(x + 0.38, y + 1.0, "D tile", bold=True, colour=style.text_on(style.C))
    page.text(x - strip / 2 - 0.1, y - 0.16, "A", bold=True, colour=style.ink(style.A))
    page.text(x + w + 0.12, y - strip / 2 - 0.1, "B", bold=True, colour=style.ink(style.B), ha="left")
    page.text(x + w + 0.12, y + h / 2, "BM", ha="left", bold=True)
    page.text(x + w / 2, y + h + 0.2, "BN", bold=True)
    page.text(0.45, 0.42, "an element of A is used BN times,", ha="left")
    page.text(0.45, 0.68, "an element of B, BM times", ha="left")

    page.text(4.05, 0.42, "FLOP/byte of FP16 block tiles", ha="left")
    left, scale, top, step, bar = 5.05, 2.35 / 310, 0.95, 0.53, 0.36
    for k, (bm, bn) in enumerate(((64, 64), (128, 128), (256, 128), (256, 256))):
        intensity = roofline.intensity(bm, bn)
        yk = top + k * step
        page.text(left - 0.12, yk + bar / 2, f"{bm} × {bn}", ha="right")
        page.box(left, yk, intensity * scale, bar, fill=style.C, edge=style.C, radius=0)
        page.text(left + intensity * scale + 0.07, yk + bar / 2, f"{intensity:.3g}", ha="left", bold=True)
    end = top + 4 * step
    page.line((left, top - 0.1), (left, end))
    balance, colour = t4.balance("DRAM"), style.MEMORY["DRAM"]  # L2 is introduced further down in the notebook
    xb = left + balance * scale
    page.line((xb, top - 0.1), (xb, end + 0.1), colour=colour, lw=1.4, dashed=True, z=1)
    page.text(xb - 0.32, end + 0.28, "the T4 needs", ha="right", colour=style.MUTED)
    page.text(xb, end + 0.28, f"{balance:.1f}", bold=True, colour=colour)
    page.text(xb, end + 0.52, "from DRAM", colour=colour)
    return page.fig


def warp_reload():
    """A block tile of 4 x 2 warps: which warps read each strip of A and B from shared memory."""
    page = Sheet(5.35)
    rows, cols = BLOCK_M // WARP_M, BLOCK_N // WARP_N
    x, y, w, h, strip = 2.75, 1.58, 1.5, 0.78, 0.62
    for i in range(rows):
        page.cell(x - strip - 0.1, y + i * h, strip, h, f"A{i}", fill=style.A, bold=True, lw=2)
        warps = " and ".join(f"W{i * cols + j}" for j in range(cols))
        page.text(x - strip - 0.24, y + (i + 0.5) * h, f"read by {warps}", ha="right", colour=style.MUTED)
    for j in range(cols):
        page.cell(x + j * w, y - strip - 0.1, w, strip, f"B{j}", fill=style.B, bold=True, lw=2)
        warps = ", ".join(f"W{i * cols + j}" for i in range(rows))
        page.text(x + (j + 0.5) * w, 0.5, f"read by\n{warps}", colour=style.MUTED, va="center")
    for i in range(rows):
        for j in range(cols):
            page.cell(x + j * w, y + i * h, w, h, f"W{i * cols + j}\nA{i} · B{j}", fill=style.tint(style.C, 0.22), lw=2)
    for height, name, colour, times in ((1.1, "A", style.A, cols), (2.0, "B", style.B, rows)):
        page.text(
            x + w * cols + 0.22,
            y + height,
            f"each {name} strip\nis read {times} times",
            ha="left",
            bold=True,
            va="center",
            colour=style.ink(colour),
        )
    page.text(
        x + w,
        y + rows * h + 0.3,
        f"block tile {BLOCK_M} × {BLOCK_N}, warp tiles {WARP_M} × {WARP_N}",
        colour=style.MUTED,
    )
    return page.fig
