"""The operands of one wgmma: A and B in swizzled shared memory, described by a start and a stride of rows."""

from __future__ import annotations

from gemm_lab_lessons.ch10.wgmma_operands import ELEMENT_BYTES, MMA_K, MMA_M, MMA_N
from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.matrix_descriptor import SharedTile, chunk_addresses

ROW_BYTES, ROWS = 128, 8
GROUP_BYTES, CHUNK = ROWS * ROW_BYTES, 16
STEPS = tuple(style.tint(colour, 0.55) for colour in (style.SKY, style.ORANGE, style.PURPLE, "#8A8A8A"))


def step_of(row: int, place: int) -> int:
    """Which of the four steps of a k tile reads the 16 bytes at `place` in a row, after the swizzle."""
    for step in range(ROW_BYTES // (MMA_K * ELEMENT_BYTES)):
        start = step * MMA_K * ELEMENT_BYTES
        tile = SharedTile(start=start, leading_bytes=CHUNK, stride_bytes=GROUP_BYTES, swizzle=128)
        if row * ROW_BYTES + place * CHUNK in chunk_addresses(tile, ROWS, MMA_K, ELEMENT_BYTES):
            return step
    raise AssertionError("four steps take a whole row")


def wgmma_operands():
    """Eight rows of a tile with the places of each step, the groups of rows of A and B, and the sums of each warp."""
    page = Sheet(6.3)
    page.text(0.35, 0.36, "eight rows of a tile, as the swizzle left them", ha="left", bold=True, size=style.BODY)
    cell, left, top = 0.4, 1.15, 0.92
    page.grid(
        left,
        top,
        ROWS,
        ROW_BYTES // CHUNK,
        cell,
        0.25,
        fill=lambda i, j: STEPS[step_of(i, j)],
        edge=style.PAPER,
        words=lambda i, j: str(step_of(i, j)),
        lw=1.2,
    )
    page.text(left - 0.12, top + 0.125, "row 0", ha="right", colour=style.MUTED)
    page.text(left - 0.12, top + 7.5 * 0.25, "row 7", ha="right", colour=style.MUTED)
    page.text(left + 4 * cell, top - 0.17, "128 bytes, 64 values along k", colour=style.MUTED)
    page.text(
        left + 4 * cell, top + 8 * 0.25 + 0.2, "number: the step along k that reads these 16 bytes", colour=style.MUTED
    )
    x = 5.1
    rows = (
        ("start", "the first byte, ÷ 16"),
        ("start + 2", "16 values further along k"),
        ("stride 1,024", "from 8 rows to the next 8"),
        ("swizzle 128 B", "XOR on the address"),
    )
    page.text(x, 0.92, "the descriptor says", ha="left", bold=True)
    for number, (name, what) in enumerate(rows):
        page.text(x, 1.27 + 0.5 * number, name, ha="left", mono=True)
        page.note(x + 0.12, 1.5 + 0.5 * number, what)
    page.line((0.35, 3.5), (page.width - 0.35, 3.5))
    y, high = 4.1, 1.28
    page.text(0.35, 3.78, "one wgmma", ha="left", bold=True, size=style.BODY)
    wide = 1.65
    for x, colour, what, rows in ((0.35, style.A, "rows of A", MMA_M), (6.0, style.B, "columns of B", MMA_N)):
        groups = rows // ROWS
        for i in range(groups):
            page.cell(
                x,
                y + i * high / groups,
                wide,
                high / groups,
                fill=style.tint(colour, 0.45 if i % 2 else 0.6),
                lw=0.8 if groups < 16 else 0.3,
            )
        page.box(x, y, wide, high, fill="none", edge=colour, radius=0, lw=1.4, z=4)
        page.text(x + wide / 2, y + high + 0.2, f"{rows} {what}", bold=True)
        page.text(x + wide / 2, y + high + 0.46, f"{groups} groups of 8", colour=style.MUTED)
    middle, wide = 2.75, 2.5
    for warp in range(4):
        page.cell(
            middle,
            y + warp * high / 4,
            wide,
            high / 4,
            f"warp {warp}: rows {16 * warp} to {16 * warp + 15}",
            fill=style.tint(style.D, 0.4 if warp % 2 else 0.55),
        )
    page.text(middle + wide / 2, y + high + 0.2, "sums in registers", bold=True)
    page.text(middle + wide / 2, y + high + 0.46, f"{MMA_M * MMA_N // 128} in each of 128 threads", colour=style.MUTED)
    page.arrow(2.06, y + high / 2, middle - 0.06, y + high / 2, colour=style.A, lw=2)
    page.arrow(5.94, y + high / 2, middle + wide + 0.06, y + high / 2, colour=style.B, lw=2)
    return page.fig
