"""cp.async: the path of a chunk into shared memory, groups in flight, and a copy that reads its address late."""

from __future__ import annotations

from gemm_look import style
from gemm_look.sheet import Sheet

_GLOBAL, _SHARED, _REGISTERS = style.MEMORY["DRAM"], style.MEMORY["shared memory"], style.MEMORY["registers"]
_MMA = style.tint(style.GREEN, 0.55)
_BUFFERS = (style.tint(style.BLUE, 0.45), style.tint(style.ORANGE, 0.5), style.tint(style.PURPLE, 0.5))
_STAGES = len(_BUFFERS)


def copy_paths():
    """In rung 01 every chunk goes through registers; from 02 on it goes directly to shared memory."""
    page = Sheet(3.6)
    left, right, width, high = 1.15, 5.75, 1.75, 0.62
    for name, y in (("01", 0.45), ("02", 2.15)):
        page.text(0.35, y + high / 2, name, ha="left", bold=True)
        page.labelled(left, y, width, high, "L2, DRAM", fill=_GLOBAL, edge=style.PAPER)
        page.labelled(right, y, width, high, "shared memory", fill=_SHARED, edge=style.PAPER)
    y, middle = 0.45 + high / 2, left + width + 0.55
    page.labelled(middle, 0.45, width, high, "registers", fill=_REGISTERS, edge=style.PAPER)
    page.arrow(left + width, y, middle, y, colour=style.INK)
    page.arrow(middle + width, y, right, y, colour=style.INK)
    page.text(left + width + 0.27, y - 0.2, "LDG", mono=True)
    page.text(middle + width + 0.27, y - 0.2, "STS", mono=True)
    words = "two instructions, 4 registers for each chunk on its way; the STS waits for its LDG"
    page.note(left, 1.33, words)
    y = 2.15 + high / 2
    page.arrow(left + width, y, right, y, colour=style.INK)
    page.text((left + width + right) / 2, y - 0.2, "LDGSTS, which is cp.async", mono=True)
    page.note(left, 3.03, "one instruction, no register for the data; nobody waits until wait_group")
    return page.fig


def copy_groups():
    """Three stages: each group of copies has two iterations to arrive; wait_group does not wait for the newest one."""
    page = Sheet(4.85)
    begin, turn, turns = 2.3, 1.28, 4
    starts = [begin + turn * t for t in range(turns + 1)]
    page.text(0.35, 0.35, "three stages", ha="left", bold=True, size=style.BODY)
    for t in range(turns):
        page.line((starts[t], 0.75), (starts[t], 3.6), colour=style.VERMILION, lw=2.4, z=1)
        page.text(starts[t] + turn / 2, 0.6, f"turn {t}", colour=style.MUTED)
    for tile in range(turns + 1):
        y = 0.85 + 0.4 * tile
        issued = 1.55 + 0.32 * tile if tile < _STAGES - 1 else starts[tile - 2] + 0.1
        arrived = starts[min(tile, turns)]
        page.text(0.35, y + 0.15, f"copy tile {tile}", ha="left")
        page.cell(
            issued,
            y,
            arrived - issued,
            0.3,
            f"to buffer {tile % _STAGES}" if tile else "to 0",
            fill=_BUFFERS[tile % _STAGES],
        )
    y = 3.05
    page.text(0.35, y + 0.2, "multiply", ha="left")
    for t in range(turns):
        page.labelled(
            starts[t] + 0.06,
            y,
            turn - 0.1,
            0.4,
            f"tile {t}, buffer {t % _STAGES}",
            fill=_BUFFERS[t % _STAGES],
            edge=style.GREEN,
            radius=0,
            lw=1.6,
        )
    page.line((0.35, 3.98), (0.35, 3.78), colour=style.VERMILION, lw=2.4)
    wait = "cp_async_wait<1>(), then the barrier: a thread's groups have arrived, but for the newest one;"
    page.note(0.5, 3.88, wait)
    barrier = "behind the barrier every thread's have, and everybody has left the buffer that comes next"
    page.note(0.5, 4.12, barrier)
    reuse = "One group a turn. Tile 3 goes where tile 0 lay, in the turn after its last reader."
    page.note(0.35, 4.48, reuse)
    return page.fig


def late_addresses():
    """A queued copy has not read its address register, so the instruction that changes the register has to wait."""
    page = Sheet(4.0)
    left, high = 1.15, 0.4
    page.text(0.35, 0.35, "one warp", ha="left", bold=True, size=style.BODY)

    def parts(y, *items):
        x = left
        for words, width, fill in items:
            if fill is None:
                page.box(
                    x,
                    y + 0.06,
                    width,
                    high - 0.12,
                    fill=style.tint(style.UNLIT, 0.6),
                    edge=style.UNLIT_EDGE,
                    dashed=True,
                    radius=0,
                    lw=0.7,
                )
                page.text(x + width / 2, y + high / 2, words, colour=style.MUTED)
            else:
                page.cell(x, y, width, high, words, fill=fill)
            x += width

    copy, other = style.tint(_SHARED, 0.5), style.tint(style.UNLIT, 1.0)
    page.text(0.35, 0.75 + high / 2, "09", ha="left", bold=True)
    mma = ("mma", 0.65, _MMA)
    parts(0.75, ("copy [R8]", 1.1, copy), ("", 1.55, None), ("write R8", 0.95, other), mma, mma, mma)
    page.text(0.35, 2.5 + high / 2, "10", ha="left", bold=True)
    parts(2.5, ("copy [R8]", 1.1, copy), ("write R9", 0.95, other), mma, mma, mma, mma)
    for y in (1.35, 3.1):
        page.cell(left + 1.1, y, 1.55, 0.34, "in the queue", fill=style.tint(_SHARED, 0.25))
        page.arrow(left + 0.55, y - 0.2, left + 1.1, y + 0.17, colour=_SHARED)
        page.note(left + 2.75, y + 0.17, "reads R8 here")
    page.note(left, 1.98, "the copy has not read R8 yet, so nothing may write it: the warp stands still")
    page.text(page.width - 0.35, 3.75, "lengths are not to scale", ha="right", colour=style.MUTED)
    return page.fig
