"""The bits of exponent and fraction in the number formats of tensor cores."""

from __future__ import annotations

from dataclasses import dataclass

from gemm_look import style
from gemm_look.sheet import Sheet


@dataclass(frozen=True)
class Format:
    """A binary format like those of IEEE 754, with the exponent bias 2^(exponent - 1) - 1.

    exponent, fraction: their numbers of bits.   taken: how many patterns above the largest number, sign aside, stand
    for infinity or no number; by default all with the highest exponent.
    """

    name: str
    exponent: int
    fraction: int
    taken: int | None = None

    @property
    def largest(self) -> float:
        of_exponent = 2**self.fraction
        last = 2**self.exponent * of_exponent - 1 - (of_exponent if self.taken is None else self.taken)
        e, f = divmod(last, of_exponent)
        return (1 + f / of_exponent) * 2.0 ** (e - 2 ** (self.exponent - 1) + 1)

    @property
    def whole(self) -> int:
        """The largest n for which all whole numbers from 0 to n are representable."""
        return 2 ** (self.fraction + 1)


FORMATS = (Format("FP32", 8, 23), Format("TF32", 8, 10), Format("BF16", 8, 7), Format("FP16", 5, 10))
SMALL = (Format("BF16", 8, 7), Format("E5M2", 5, 2), Format("E4M3", 4, 3, taken=1), Format("E2M1", 2, 1, taken=0))


def number_formats():
    """Sign, exponent and fraction of the formats that a tensor core reads or sums in, with the range of numbers."""
    last = "BF16 is FP32 cut in half: its range, two to three digits. FP16 has more digits and little range."
    return _drawn(FORMATS, 0.147, last)


def eight_bits():
    """The same for the formats of eight and of four bits, beside BF16."""
    last = "With each sign one pattern of E4M3 is no number; it has no infinity. E2M1 has neither."
    return _drawn(SMALL, 0.29, last)


def _drawn(forms: tuple[Format, ...], bit: float, last: str):
    """The formats bit by bit, one below the other, and a last line. bit: width of a bit, in inches."""
    page = Sheet(3.45)
    left, top, high, step = 0.85, 0.98, 0.34, 0.52
    exponent, fraction = style.tint(style.B, 0.55), style.tint(style.A, 0.45)
    widest = max(1 + form.exponent + form.fraction for form in forms)
    x_whole, x_largest = left + widest * bit + 1.15, left + widest * bit + 2.2
    page.text(
        left, 0.36, "bits: sign, exponent (how large), fraction (how exact)", ha="left", bold=True, size=style.BODY
    )
    page.text(x_whole, top - 0.28, "all whole\nnumbers to", ha="right", colour=style.MUTED)
    page.text(x_largest, top - 0.2, "largest", ha="right", colour=style.MUTED)
    for number, form in enumerate(forms):
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
    page.note(0.3, top + 4 * step + 0.08, last)
    return page.fig
