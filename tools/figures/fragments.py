"""The lane and the register of each element in mma.m16n8k8.

Source of the formulas: PTX ISA, "Matrix Fragments for mma.m16n8k8", 16-bit types.
"""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

_TINTS = tuple(style.tint(colour, 0.36) for colour in style.GROUPS)


def holder_a(row: int, col: int) -> tuple[int, int]:
    """(lane, element) of A[row, col], a 16x8 tile; elements 0 to 3 are a0 to a3."""
    return (row % 8) * 4 + col // 2, (row // 8) * 2 + col % 2


def holder_b(row: int, col: int) -> tuple[int, int]:
    """(lane, element) of B[row, col], an 8x8 tile; elements 0 and 1 are b0 and b1."""
    return col * 4 + row // 2, row % 2


def holder_c(row: int, col: int) -> tuple[int, int]:
    """(lane, element) of C[row, col] or D[row, col], a 16x8 tile; elements 0 to 3 are c0 to c3."""
    return (row % 8) * 4 + col // 2, (row // 8) * 2 + col % 2


def mma_fragments():
    """A, B and C/D, arranged as in the product; each box is a lane's pair of elements, coloured by lane ÷ 4."""
    page = Sheet(8.1)
    cell_w, cell_h, half_gap = 0.385, 0.255, 0.32
    x_a = 0.5
    x_c = x_a + 8 * cell_w + 0.92
    y_b = 0.65
    y_a = y_b + 8 * cell_h + 0.72

    def tall(x, y, letter, holder):  # 16 x 8 in two halves, pairs along a row
        for half in range(2):
            y_half = y + half * (8 * cell_h + half_gap)
            for col in range(8):
                page.text(
                    x + (col + 0.5) * cell_w, y_half - 0.13, f"{letter}{holder(8 * half, col)[1]}", colour=style.MUTED
                )
            for row in range(8):
                for col in range(0, 8, 2):
                    lane = holder(8 * half + row, col)[0]
                    page.cell(
                        x + col * cell_w,
                        y_half + row * cell_h,
                        2 * cell_w,
                        cell_h,
                        f"T{lane}",
                        fill=_TINTS[lane // 4],
                        lw=1.2,
                    )
                if row in (0, 7):
                    page.text(
                        x - 0.08, y_half + (row + 0.5) * cell_h, str(8 * half + row), ha="right", colour=style.MUTED
                    )

    tall(x_a, y_a, "a", holder_a)
    tall(x_c, y_a, "c", holder_c)
    for col in range(8):
        for row in range(0, 8, 2):
            lane = holder_b(row, col)[0]
            page.cell(
                x_c + col * cell_w, y_b + row * cell_h, cell_w, 2 * cell_h, f"T{lane}", fill=_TINTS[lane // 4], lw=1.2
            )
    for row in range(8):
        page.text(x_c - 0.09, y_b + (row + 0.5) * cell_h, f"b{holder_b(row, 0)[1]}", ha="right", colour=style.MUTED)
    for x, y, words, colour in (
        (x_a, y_a - 0.41, f"A  {16} × {8}", style.A),
        (x_c, y_b - 0.18, f"B  {8} × {8}", style.B),
        (x_c, y_a - 0.41, f"C and D  {16} × {8}", style.C),
    ):
        page.text(x, y, words, ha="left", bold=True, size=style.BODY, colour=style.ink(colour))
    page.text(x_a, y_b + 0.1, "mma.m16n8k8, 16-bit elements", ha="left", bold=True, size=style.BODY)
    for k, words in enumerate(
        (
            "T0 to T31: the lanes of a warp",
            "a0 to a3, b0, b1, c0 to c3:",
            "the elements that a lane holds",
            "colour: lane ÷ 4, rounded down",
        )
    ):
        page.note(x_a, y_b + 0.48 + 0.27 * k, words)
    return page.fig
