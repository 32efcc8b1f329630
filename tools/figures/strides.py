"""Reading every s-th word: the number of wavefronts is the greatest common divisor of s and 32, the banks."""

from __future__ import annotations

import numpy as np

from gemm_look import style
from gemm_look.sheet import Sheet
from gpu_simulator.hardware import banks

STRIDES = range(34)


def counts() -> list[int]:
    """For every stride s of the picture, the wavefronts of 32 lanes that read the words 0, s, 2s, …"""
    lanes = np.arange(32)
    return [int(banks.wavefronts(4 * stride * lanes[None], 4)[0]) for stride in STRIDES]


def stride_wavefronts():
    """A bar for each stride, with its wavefronts on a log scale."""
    page = Sheet(3.7)
    left, bottom, step, unit = 0.75, 2.95, 0.207, 0.36
    page.text(0.3, 0.35, "32 lanes read every s-th word", ha="left", bold=True, size=style.BODY)
    page.note(0.3, 0.66, "wavefronts = gcd(s, 32): what counts is the power of two in s")
    for stride, count in zip(STRIDES, counts(), strict=True):
        x, high = left + stride * step, (np.log2(count) + 0.6) * unit
        fill = style.WAVEFRONT if count == 1 else style.CONFLICT
        page.box(x, bottom - high, step - 0.04, high, fill=fill, edge=fill, radius=0)
        page.text(x + step / 2 - 0.02, bottom - high - 0.12, str(count), bold=count > 1, colour=style.ink(fill))
        if stride % 4 == 0:
            page.text(x + step / 2 - 0.02, bottom + 0.16, str(stride), colour=style.MUTED)
    page.line((left - 0.05, bottom), (left + len(STRIDES) * step, bottom), z=4)
    page.text(left - 0.12, bottom + 0.16, "s =", ha="right", colour=style.MUTED)
    page.note(left, bottom + 0.48, "s = 0: all lanes want one word, which is sent to all of them at once")
    return page.fig
