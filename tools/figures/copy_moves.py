"""cp.async.cg: how 128 bytes of a row are copied into shared memory, and in how many wavefronts."""

from __future__ import annotations

import numpy as np

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware.bank_schedule import schedule

CHUNKS = np.arange(8)
CASES = (
    ("padded, row 2", "32 bytes further", CHUNKS + 2),
    ("padded, row 1", "16 bytes further", CHUNKS + 1),
    ("c + 1 mod 8", "an addition", (CHUNKS + 1) % 8),
    ("c ^ 1", "the XOR", CHUNKS ^ 1),
)
SHADES = (style.SKY, style.CONFLICT, style.ORANGE, style.PURPLE)


def waves(places: np.ndarray) -> np.ndarray:
    """The wavefront that copies each of the eight chunks of a source line, if chunk i goes to chunk places[i]."""
    found = schedule("cp.async.cg", 16 * places, 16, source=16 * CHUNKS)
    return found.wavefront[:, 0]


def copy_moves():
    """Sectors of 32 bytes that stay whole can share a wavefront; a shift by 16 bytes divides each of them."""
    page = Sheet(6.05)
    w, h, left, top, step = 0.33, 0.27, 1.75, 1.22, 1.13
    page.text(0.3, 0.38, "eight lanes copy a row of 128 bytes", ha="left", bold=True, size=style.BODY)
    page.text(left + 4 * w, top - 0.32, "a line of global memory", colour=style.MUTED)
    for number, (title, says, places) in enumerate(CASES):
        y, wave = top + number * step, waves(places)
        page.text(0.3, y + 0.28, title, ha="left", bold=True)
        page.note(0.3, y + 0.53, says)
        for chunk in CHUNKS:
            fill = style.tint(SHADES[wave[chunk]], 0.35)
            page.cell(left + chunk * w, y - 0.14, w, h, f"c{chunk}", fill=fill)
        held = {int(place): chunk for chunk, place in enumerate(places)}
        for place in range(16):
            chunk = held.get(place)
            fill = style.PAPER if chunk is None else style.tint(SHADES[wave[chunk]], 0.35)
            page.labelled(
                left + place * w,
                y + 0.5,
                w,
                h,
                "" if chunk is None else f"c{chunk}",
                fill=fill,
                edge=style.UNLIT_EDGE if chunk is None else style.PAPER,
                lw=0.5,
                radius=0,
            )
            if chunk is not None:
                page.arrow(
                    left + (chunk + 0.5) * w,
                    y + 0.14,
                    left + (place + 0.5) * w,
                    y + 0.49,
                    lw=1.2,
                    head=7,
                    colour=SHADES[wave[chunk]],
                )
        for sector in range(8):
            x = left + sector * 2 * w
            page.box(x, y + 0.5, 2 * w, h, fill="none", edge=style.MUTED, lw=1.1, radius=0, z=4)
            if sector < 4:
                page.box(x, y - 0.14, 2 * w, h, fill="none", edge=style.MUTED, lw=1.1, radius=0, z=4)
        count = int(wave.max()) + 1
        page.text(
            7.82,
            y - 0.01,
            f"{count} wavefront{'s' * (count > 1)}",
            ha="right",
            bold=True,
            colour=style.ink(style.CONFLICT if count > 1 else style.WAVEFRONT),
        )
    for line in range(2):
        page.text(left + (4 + 8 * line) * w, top + 3 * step + 0.94, f"line {line} of shared memory", colour=style.MUTED)
    page.note(0.3, top + 4 * step + 0.04, "frames: sectors of 32 bytes; arrows of one colour: one wavefront")
    return page.fig
