"""The tensor cores and the additions of two warpgroups, in step and out of step."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

ROWS, COLUMNS, DEPTH = 64, 192, 128  # of a warpgroup's tile, and of a k tile
RATE, LANES = 4096, 32  # multiply-adds of E4M3 of a multiprocessor, and additions of one of its four parts, in a cycle
TURNS = 3


def cycles() -> tuple[int, int]:
    """Of the products of a k tile, and of the additions of one warp afterwards."""
    return ROWS * COLUMNS * DEPTH // RATE, ROWS * COLUMNS // 4 // LANES


def schedules() -> dict[str, list[tuple[int, int, int]]]:
    """{name: (warpgroup, begin, length)} of the products: both at once, and one after the other."""
    products, additions = cycles()
    together = [
        (group, turn * 2 * (products + additions), 2 * products) for turn in range(TURNS - 1) for group in range(2)
    ]
    turns = [(turn % 2, turn * products, products) for turn in range(2 * TURNS - 1)]
    return {"in step": together, "out of step": turns}


def promotions():
    """For each schedule the products of both warpgroups, and the additions that follow, on a scale of cycles."""
    page = Sheet(3.95)
    products, additions = cycles()
    left, high, per = 1.95, 0.34, 5.55 / 2100  # inches of a cycle
    page.text(0.3, 0.36, "Products of a k tile, and additions", ha="left", bold=True, size=style.BODY)
    for number, (name, spans) in enumerate(schedules().items()):
        top = 1.05 + number * 1.3
        page.text(0.3, top - 0.22, name, ha="left", bold=True)
        length = additions * (2 if number == 0 else 1)
        for group in range(2):
            y = top + group * 0.44
            page.text(left - 0.15, y + high / 2, f"warpgroup {group}", ha="right", colour=style.MUTED)
            for begin, long in ((begin, long) for of, begin, long in spans if of == group):
                page.cell(left + begin * per, y, long * per, high, str(long), fill=style.tint(style.A, 0.45))
                page.cell(left + (begin + long) * per, y, length * per, high, "+", fill=style.tint(style.ORANGE, 0.6))
    words = f"Numbers: cycles of the tensor cores, computed. Orange: {additions} additions for each warp."
    page.note(0.3, 3.55, words)
    return page.fig
