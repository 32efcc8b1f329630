"""Which bits of a product reach a large accumulator: the window of a step of Hopper's tensor cores with FP8."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.exact_sums import sum_rule

FRACTION = sum_rule(90, "wgmma", "e4m3", "e4m3", "f32").fraction
# What is added: its name, and its bits as powers of two.
ADDENDS = (("accumulator, 16,384", (14,)), ("64 · 1.5 = 96", (6, 5)), ("1.5 · 2 = 3", (1, 0)), ("1 · 1 = 1", (0,)))


def window(addends) -> tuple[int, int]:
    """The largest power of two among the addends, and the smallest that is kept."""
    top = max(max(bits) for _, bits in addends)
    return top, top - FRACTION


def kept_bits():
    """The bits of four addends by their powers of two, with the window that the largest of them fixes."""
    page = Sheet(3.75)
    left, top, w, h, step = 2.35, 1.35, 0.315, 0.36, 0.5
    high, low = window(ADDENDS)
    last = low - 2
    column = {power: left + (high - power) * w for power in range(high, last - 1, -1)}
    page.text(0.3, 0.36, "One step: what is kept of each addend", ha="left", bold=True, size=style.BODY)
    page.box(
        left - 0.05, top - 0.08, (FRACTION + 1) * w + 0.1, len(ADDENDS) * step + 0.02, fill=style.tint(style.LIT, 0.25),
        edge=style.RULE, radius=0.05, z=1,
    )  # fmt: skip
    page.text(left + (FRACTION + 1) * w / 2, top - 0.56, f"the largest, and {FRACTION} places below it", bold=True)
    page.text(column[low - 1] + w, top - 0.56, "cut off", bold=True, colour=style.ink(style.CONFLICT))
    for power, x in column.items():
        page.text(x + w / 2, top - 0.25, f"$2^{{{power}}}$", colour=style.MUTED)
    for number, (name, bits) in enumerate(ADDENDS):
        y = top + number * step
        page.text(left - 0.2, y + h / 2, name, ha="right", bold=True)
        for power, x in column.items():
            there, kept = power in bits, power >= low
            fill = style.tint(style.GREEN if kept else style.CONFLICT, 0.6) if there else style.PAPER
            page.labelled(
                x, y, w, h, "1" if there else "", fill=fill, edge=style.UNLIT_EDGE, radius=0, mono=True, lw=0.7
            )
    words = "Of 3 only 2 is added, and of 1 nothing: beside an accumulator of 16,384 their last bit lies outside."
    page.note(0.3, top + len(ADDENDS) * step + 0.2, words)
    return page.fig
