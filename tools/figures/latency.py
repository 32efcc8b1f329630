"""Three timelines of one thread that copies four values from DRAM to shared memory."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

_ISSUE, _WAIT = 0.27, 1.2  # widths of an instruction and of a wait for DRAM, in inches


def memory_latency_hidden():
    """Load, wait and store, one after another; all loads first; one load of four times the width."""
    page = Sheet(4.15)
    left = 0.45
    load, store = style.MEMORY["DRAM"], style.MEMORY["shared memory"]

    def step(x, y, letter, colour, wide=1.0):
        page.cell(x, y, _ISSUE * wide, 0.42, letter, fill=colour, bold=True)
        return x + _ISSUE * wide

    def wait(x, y, length):
        page.box(
            x,
            y + 0.07,
            length,
            0.28,
            fill=style.tint(style.UNLIT, 0.6),
            edge=style.UNLIT_EDGE,
            radius=0,
            lw=0.7,
            dashed=True,
        )
        return x + length

    def row(y, title, note):
        page.text(left, y, title, ha="left", bold=True, size=style.BODY)
        page.text(page.width - 0.45, y, note, ha="right", colour=style.MUTED)

    y = 0.4
    row(y, "one after another: four loads of 4 bytes", "four waits")
    x = left
    for _ in range(4):
        x = step(x, y + 0.2, "L", load)
        x = wait(x, y + 0.2, _WAIT)
        x = step(x, y + 0.2, "S", store)
    end = x

    y = 1.45
    row(y, "unrolled: all loads first", "the waits overlap")
    x = left
    for _ in range(4):
        x = step(x, y + 0.2, "L", load)
    x = wait(x, y + 0.2, _WAIT - 3 * _ISSUE)
    for _ in range(4):
        x = step(x, y + 0.2, "S", store)

    y = 2.5
    row(y, "vectorised: one load of 16 bytes", "one wait, one load, one store")
    x = step(left, y + 0.2, "L", load)
    x = wait(x, y + 0.2, _WAIT)
    step(x, y + 0.2, "S", store)

    page.arrow(left, 3.42, end, 3.42, lw=1.0)
    page.text(end, 3.64, "time", colour=style.MUTED, ha="right")
    x = left
    for letter, colour, words in (("L", load, "load"), ("S", store, "store"), ("", None, "wait for DRAM")):
        if letter:
            page.cell(x, 3.56, 0.27, 0.27, letter, fill=colour, bold=True)
        else:
            page.box(
                x,
                3.56,
                0.27,
                0.27,
                fill=style.tint(style.UNLIT, 0.6),
                edge=style.UNLIT_EDGE,
                radius=0,
                lw=0.7,
                dashed=True,
            )
        page.note(x + 0.36, 3.69, words)
        x += 1.05
    return page.fig
