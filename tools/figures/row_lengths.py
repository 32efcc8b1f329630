"""The eight rows of one matrix that ldmatrix reads, in tiles with rows of 32, 64 and 128 bytes: the banks they meet."""

from __future__ import annotations

import numpy as np

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware import banks

ROW_BYTES = (32, 64, 128)
CHUNK = 16


def count(row_bytes: int) -> int:
    """The wavefronts of one 8 × 8 matrix whose rows lie `row_bytes` bytes apart."""
    return int(banks.wavefronts(row_bytes * np.arange(8)[None], CHUNK)[0])


def row_lengths():
    """Three tiles on the 32 banks, 128 bytes in a line of the picture; the rows of one matrix are coloured."""
    page = Sheet(4.7)
    w, h, top = 0.255, 0.24, 1.45
    page.text(0.3, 0.4, "One 8 × 8 matrix, 16 bytes from each of eight rows", ha="left", bold=True, size=style.BODY)
    for number, row_bytes in enumerate(ROW_BYTES):
        left = 0.42 + number * 2.5
        middle = left + 4 * w
        page.text(middle, 0.92, f"rows of {row_bytes} bytes", bold=True)
        page.note(left, top - 0.17, "bank 0")
        page.text(left + 8 * w, top - 0.17, "31", ha="right", colour=style.MUTED)
        lines = 8 * row_bytes // 128
        places = {divmod(row * row_bytes // CHUNK, 8): row for row in range(8)}
        first = min(line for line, _ in places)

        def fill(i, j, places=places, first=first):
            if (i, j) not in places:
                return style.PAPER
            return style.WAVEFRONT if i == first else style.tint(style.CONFLICT, 0.7)

        page.grid(
            left,
            top,
            lines,
            8,
            w,
            h,
            edge=style.UNLIT_EDGE,
            lw=0.6,
            fill=fill,
            words=lambda i, j, places=places: str(places.get((i, j), "")),
        )
        waves = count(row_bytes)
        page.text(middle, top + 8 * h + 0.42, f"{waves} wavefronts", bold=True, colour=style.ink(style.CONFLICT))
    page.note(
        0.3,
        top + 8 * h + 0.95,
        "A line of each picture is 128 bytes, once around the banks; a cell is 16 bytes, four banks.",
    )
    return page.fig
