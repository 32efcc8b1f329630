"""The bits of exponent and fraction in the number formats of tensor cores."""

from __future__ import annotations

from dataclasses import dataclass

from gemm_look import style
from gemm_look.sheet import Sheet


@dataclass(frozen=True)
class Format:
    """A binary format like those of IEEE 754, with the exponent bias 2^(exponent - 1) - 1.

    exponent, fraction: their numbers of bits.
    """

    name: str
    exponent: int
    fraction: int

    @property
    def largest(self) -> float:
        return (2 - 2.0**-self.fraction) * 2.0 ** (2 ** (self.exponent - 1) - 1)

    @property
    def whole(self) -> int:
        """The largest n for which all whole numbers from 0 to n are representable."""
        return 2 ** (self.fraction + 1)


FORMATS = (Format("FP32", 8, 23), Format("TF32", 8, 10), Format("BF16", 8, 7), Format("FP16", 5, 10))


def number_formats():
    """Sign, exponent and fraction of four formats, bit by bit, with the range of numbers."""
    page = Sheet(3.45)
    left, top, bit, high, step = 0.85, 0.98, 0.147, 0.34, 0.52
    exponent, fraction = style.tint(style.B, 0.55), style.tint(style.A, 0.45)
    x_whole, x_largest = left + 32 * bit + 1.15, left + 32 * bit + 2.2
    page.text(
        left, 0.36, "bits: sign, exponent (how large), fraction (how exact)", ha="left", bold=True, size=style.BODY
    )
    page.text(x_whole, top - 0.28, "all whole\nnumbers to", ha="right", colour=style.MUTED)
    page.text(x_largest, top - 0.2, "largest", ha="right", colour=style.MUTED)
    for number, form in enumerate(FORMATS):
        y = top + number * step
        page.text(0.3, y + high / 2, form.name, ha="left", bold=True)
        bits = 1 + form.exponent + form.fraction
        page.grid(
            left,
            y,
            1,
            bits,
            bit,
            high,
            edge=style.PAPER,
            lw=0.5,
            fill=lambda i, j, e=form.exponent: style.UNLIT_EDGE if j == 0 else exponent if j <= e else fraction,
        )
        page.text(left + (1 + form.exponent / 2) * bit, y + high / 2, str(form.exponent), bold=True)
        page.text(left + (1 + form.exponent + form.fraction / 2) * bit, y + high / 2, str(form.fraction), bold=True)
        page.text(x_whole, y + high / 2, f"{form.whole:,}", ha="right", mono=True)
        page.text(
            x_largest,
            y + high / 2,
            f"{form.largest:,.0f}" if form.largest < 1e6 else f"{form.largest:.1e}",
            ha="right",
            mono=True,
        )
    page.text(
        0.3,
        top + 4 * step + 0.08,
        "BF16 is FP32 cut in half: its range, two to three digits. FP16 has more digits and little range.",
        ha="left",
        colour=style.MUTED,
    )
    return page.fig
