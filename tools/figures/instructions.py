"""The multiply-adds of one warp instruction, to scale: a scalar multiply-add in 32 lanes beside an mma."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.mma_layouts import Mma

SIDE = 0.045  # side of the square of one multiply-add, in inches
LANES = 32


def multiply_adds() -> dict[str, int]:
    """Multiply-adds of one warp instruction, by name; each is 2 FLOP."""
    counts = {"FFMA": LANES}
    for shape in ("m16n8k8", "m16n8k16"):
        m, n, k = Mma(shape, "f16").mnk
        counts[f"mma {shape}"] = m * n * k
    return counts


def one_instruction():
    """Each multiply-add is a small square: 32 of them in one instruction, a thousand and more in the next."""
    page = Sheet(3.45)
    top = 0.85
    page.text(
        0.35,
        0.4,
        "one instruction of one warp; each small square is a multiply-add",
        ha="left",
        bold=True,
        size=style.BODY,
    )
    x = 0.35
    for (name, count), columns, fill in zip(
        multiply_adds().items(), (8, 32, 64), (style.A, style.C, style.C), strict=True
    ):
        rows = count // columns
        width, height = columns * SIDE, rows * SIDE
        page.box(x, top, width, height, fill=style.tint(fill, 0.55), edge="none", radius=0)
        for column in range(1, columns):
            page.line((x + column * SIDE, top), (x + column * SIDE, top + height), colour=style.PAPER, lw=0.5, z=3)
        for row in range(1, rows):
            page.line((x, top + row * SIDE), (x + width, top + row * SIDE), colour=style.PAPER, lw=0.5, z=3)
        y = top + 32 * SIDE + 0.28
        page.text(x, y, name, ha="left", mono=True, bold=True)
        page.note(x, y + 0.25, f"{count:,} multiply-adds")
        page.note(x, y + 0.49, f"{2 * count:,} FLOP")
        x += max(width, 1.75) + 0.5
    return page.fig
