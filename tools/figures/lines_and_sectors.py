"""Lines and sectors of global memory that a warp's copy of 512 bytes reads, for tile rows of 64 and 128 bytes."""

from __future__ import annotations

import numpy as np

from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gpu_simulator.hardware import banks

LINE, SECTOR = 128, 32


def touched(row_bytes: int, leading: int = 4096) -> tuple[int, int]:
    """(number of sectors, of lines) that 32 lanes read if each copies 16 bytes from rows `leading` bytes apart."""
    row, byte = np.divmod(16 * np.arange(32), row_bytes)
    address = row * leading + byte
    return int(banks.sectors(address[None], 16)[0]), len(np.unique(address // LINE))


def lines_and_sectors():
    """BLOCK_K = 32 and 64: the second has the same number of sectors, and half as many lines."""
    page = Sheet(4.5)
    w, h, top, gap = 0.62, 0.29, 1.28, 0.06
    page.text(0.3, 0.35, "One warp copies 512 bytes, 16 bytes a lane", ha="left", bold=True, size=style.BODY)
    for number, (block_k, row_bytes) in enumerate(((32, 64), (64, 128))):
        left = 0.95 + number * 3.85
        sectors, lines = touched(row_bytes)
        used = row_bytes // SECTOR
        page.text(left + 2 * w, 0.8, f"BLOCK_K = {block_k}: rows of {row_bytes} bytes", bold=True)
        page.text(left - 0.1, top - 0.15, "sector", colour=style.MUTED, ha="right")
        for sector in range(4):
            page.text(left + (sector + 0.5) * w, top - 0.15, str(sector), colour=style.MUTED)
        for row in range(lines):
            y = top + row * (h + gap)
            page.text(left - 0.1, y + h / 2, f"row {row}", colour=style.MUTED, ha="right")
            for sector in range(4):
                first = (row * row_bytes + sector * SECTOR) // 16
                page.labelled(
                    left + sector * w,
                    y,
                    w - 0.03,
                    h,
                    f"{first}, {first + 1}" if sector < used else "",
                    fill=style.tint(style.SKY, 0.6) if sector < used else style.PAPER,
                    edge=style.RULE,
                    radius=0.02,
                )
        page.text(
            left + 2 * w,
            top + 8 * (h + gap) + 0.18,
            f"{sectors} sectors in {lines} lines",
            bold=True,
            colour=style.ink(style.WAVEFRONT if lines == 4 else style.CONFLICT),
        )
    return page.fig
