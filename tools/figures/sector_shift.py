"""32 floats side by side in global memory, from byte 0 and from byte 4 on: the sectors that a warp fetches."""

from __future__ import annotations

import numpy as np

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware import banks

SHOWN = 5  # sectors in the picture
STARTS = (0, 4)


def fetched(start: int) -> int:
    """The number of sectors that 32 lanes touch which read one float each, the first at byte `start`."""
    return int(banks.sectors(start + 4 * np.arange(32)[None], 4)[0])


def sector_shift():
    """Two strips of five sectors of eight floats, with the floats that are read."""
    page = Sheet(2.95)
    left, top, w, h, step = 1.85, 1.25, 0.118, 0.36, 0.55
    page.text(0.3, 0.4, "32 lanes read 32 floats side by side", ha="left", bold=True, size=style.BODY)
    for sector in range(SHOWN):
        page.text(left + (8 * sector + 4) * w, top - 0.2, f"sector {sector}", colour=style.MUTED)
    for number, start in enumerate(STARTS):
        y, count = top + number * step, fetched(start)
        page.text(left - 0.15, y + h / 2, f"from byte {start} on", ha="right", bold=True)
        read = range(start // 4, start // 4 + 32)
        page.grid(
            left,
            y,
            1,
            8 * SHOWN,
            w,
            h,
            edge=style.UNLIT_EDGE,
            lw=0.4,
            fill=lambda i, j, read=read: style.tint(style.SKY, 0.6) if j in read else style.PAPER,
        )
        for sector in range(SHOWN):
            lit = 8 * sector <= read[-1] and sector < count
            page.box(
                left + 8 * sector * w,
                y,
                8 * w,
                h,
                fill="none",
                edge=style.INK if lit else style.UNLIT_EDGE,
                lw=1.8 if lit else 0.6,
                radius=0,
                z=4,
            )
        page.text(left + 8 * SHOWN * w + 0.12, y + h / 2, f"{count} sectors", ha="left", bold=True)
    page.note(left, top + 2 * step + 0.12, "A sector of which one float is read is fetched whole.")
    return page.fig
