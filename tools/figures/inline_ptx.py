"""The four parts of an inline PTX statement, and what each tells the compiler."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

PARTS = (
    (
        'asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"',
        "instruction",
        style.UNLIT,
        "text for the assembler, with %0, %1 … for the operands below",
    ),
    (
        '             : "=r"(d0), "=r"(d1)',
        "outputs",
        style.tint(style.C, 0.3),
        "%0 and %1: “=” is written, “+” is read and written",
    ),
    ('             : "r"(address)', "inputs", style.tint(style.A, 0.3), "%2: “r” is a 32-bit register"),
    (
        '             : "memory");',
        "clobbers",
        style.tint(style.B, 0.35),
        "memory is touched: move no load or store across",
    ),
)


def inline_ptx():
    """One statement of kernels/include/ptx/ldmatrix.cuh, line by line."""
    page = Sheet(3.3)
    page.text(
        0.3, 0.38, "asm volatile: keep it, even if the outputs look unused", ha="left", bold=True, size=style.BODY
    )
    y = 0.75
    for code, name, fill, means in PARTS:
        page.box(0.25, y, 7.5, 0.56, fill=fill, edge="none", radius=0.05)
        page.text(0.35, y + 0.17, code, ha="left", mono=True, size=style.SMALL)
        page.text(0.35, y + 0.41, name, ha="left", bold=True)
        page.text(1.65, y + 0.41, means, ha="left")
        y += 0.6
    return page.fig
