"""cp.async.cg: eight rows of 128 bytes copied into a padded tile and into a swizzled one, wavefront by wavefront."""

from __future__ import annotations

import numpy as np

from gemm_look import style
from gemm_look.sheet import Sheet
from tools.figures.copy_moves import SHADES, waves

ROWS = CHUNKS = 8


def places(row: int, padded: bool) -> np.ndarray:
    """The places of the chunks of a row, counted from the beginning of the shared-memory line in which it begins."""
    chunk = np.arange(CHUNKS)
    return row + chunk if padded else chunk ^ row


def counts(padded: bool) -> list[int]:
    """The wavefronts that eight lanes take to copy each row."""
    return [int(waves(places(row, padded)).max()) + 1 for row in range(ROWS)]


def copy_rows():
    """Colours are the wavefronts of a row, frames the sectors of 32 bytes."""
    page = Sheet(4.4)
    w, h, top = 0.315, 0.29, 1.12
    for panel, (title, padded) in enumerate((("rows of 128 + 16 bytes", True), ("chunk XOR row", False))):
        left = 0.72 + panel * 3.8
        page.text(left, 0.42, title, ha="left", bold=True, size=style.BODY)
        page.text(left - 0.1, top - 0.2, "line", ha="right", colour=style.MUTED)
        page.text(left + 8 * w + 0.24, top - 0.2, "wavefronts", ha="right", colour=style.MUTED)
        for line in range(ROWS + padded):
            page.text(left - 0.1, top + (line + 0.5) * h, str(line), ha="right", colour=style.MUTED)
        for row in range(ROWS):
            wave, at = waves(places(row, padded)), places(row, padded)
            for chunk in range(CHUNKS):
                line, place = divmod(int(at[chunk]), CHUNKS)
                page.cell(
                    left + place * w,
                    top + (row + line) * h,
                    w,
                    h,
                    f"{row}·{chunk}",
                    fill=style.tint(SHADES[wave[chunk]], 0.35),
                    lw=0.7,
                )
            count = counts(padded)[row]
            colour = style.ink(style.CONFLICT if count > 1 else style.WAVEFRONT)
            page.text(left + 8 * w + 0.12, top + (row + 0.5) * h, str(count), ha="left", bold=True, colour=colour)
        for line in range(ROWS + padded):
            for sector in range(4):
                page.box(
                    left + 2 * sector * w,
                    top + line * h,
                    2 * w,
                    h,
                    fill="none",
                    edge=style.MUTED,
                    lw=1.1,
                    radius=0,
                    z=4,
                )
    page.note(
        0.3,
        top + 9 * h + 0.34,
        "frames: sectors of 32 bytes in shared memory; within a row, one colour is one wavefront",
    )
    return page.fig
