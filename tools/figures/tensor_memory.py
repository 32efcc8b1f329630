"""Tensor memory (TMEM) of the B200: what writes it, how warps share it, and what it contains."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

LANES, COLUMNS, CELL_BYTES, WARPS = 128, 512, 4, 4
BLOCK_N = 256  # an accumulator of 128 x 256 FP32 takes 256 columns; K of one tcgen05.mma on BF16 is 16
_QUARTERS = tuple(style.tint(colour, 0.5) for colour in (style.SKY, style.ORANGE, style.PURPLE, "#8A8A8A"))


def lanes_of(warp: int) -> range:
    """The lanes of tensor memory that a warp can load and store: the quarter (warp mod 4) (PTX ISA, tcgen05.ld)."""
    share = LANES // WARPS
    return range(warp % WARPS * share, (warp % WARPS + 1) * share)


def tensor_memory():
    """128 lanes by 512 columns: tcgen05.mma writes all lanes, each warp reads a quarter of them."""
    page = Sheet(5.4)
    x, y, w, h = 2.15, 1.28, 3.6, 2.3
    page.text(0.35, 0.36, "tensor memory of an SM", ha="left", bold=True, size=style.BODY)
    kib = LANES * COLUMNS * CELL_BYTES // 1024
    page.text(
        page.width - 0.35,
        0.36,
        f"{LANES} lanes × {COLUMNS} columns × {CELL_BYTES} bytes = {kib} KB",
        ha="right",
        colour=style.MUTED,
    )
    for warp in range(WARPS):
        quarter, lanes = y + warp * h / WARPS, lanes_of(warp)
        page.cell(x, quarter, w, h / WARPS, fill=_QUARTERS[warp], lw=1.5)
        page.text(x - 0.12, quarter + h / WARPS / 2, f"lanes {lanes[0]}–{lanes[-1]}", ha="right", colour=style.MUTED)
        middle = quarter + h / WARPS / 2
        page.arrow(x + w + 0.06, middle, x + w + 0.5, middle, colour=style.INK)
        page.text(x + w + 0.6, middle, f"warp {warp}, warp {warp + WARPS}", ha="left")
    page.text(x + w + 0.28, y - 0.17, "tcgen05.ld", mono=True, ha="left")
    for half in range(COLUMNS // BLOCK_N):
        left = x + half * w / 2
        page.box(left + 0.05, y + 0.05, w / 2 - 0.1, h - 0.1, fill="none", edge=style.D, radius=0, lw=2, z=4)
        page.text(left + w / 4, y - 0.17, f"columns {half * BLOCK_N}–{(half + 1) * BLOCK_N - 1}", colour=style.MUTED)
        page.text(left + w / 4, y + h / 8, f"accumulator {half}", bold=True)
        page.text(left + w / 4, y + 3 * h / 8, f"{LANES} × {BLOCK_N}, FP32")
        page.text(left + w / 4, y + 5 * h / 8, "row i: lane i")
        page.text(left + w / 4, y + 7 * h / 8, f"column j: {half * BLOCK_N} + j" if half else "column j: j")
    below = y + h
    page.labelled(
        x,
        below + 0.62,
        w,
        0.46,
        "shared memory: A 128 × 16, B 16 × 256",
        fill=style.MEMORY["shared memory"],
        edge=style.PAPER,
    )
    page.arrow(x + w / 2, below + 0.62, x + w / 2, below + 0.06, colour=style.INK, lw=1.8)
    page.text(x + w / 2 + 0.15, below + 0.34, "tcgen05.mma", mono=True, ha="left")
    page.text(x + w / 2 - 0.15, below + 0.34, "issued by one thread", ha="right", colour=style.MUTED)
    page.note(0.35, 4.93, "Two accumulators: the epilogue's four warps empty one while the next tile fills the other.")
    page.note(0.35, 5.17, "tcgen05.alloc hands out whole columns: 32, 64, 128, 256 or 512 of them.")
    return page.fig
