"""Draws the bits of addresses in a row: their numbers, their values, the XOR of one bit with another, and names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet

HIGH = 0.24  # inches of a row


@dataclass(frozen=True)
class BitRow:
    """`count` bits from the position `left` on, each `width` inches wide; the highest bit is on the left."""

    page: Sheet
    left: float
    count: int
    width: float = 0.27

    @property
    def right(self) -> float:
        return self.left + self.count * self.width

    def x(self, bit: int) -> float:
        """The left edge of a bit, in inches."""
        return self.left + (self.count - 1 - bit) * self.width

    def middle(self, bit: int) -> float:
        return self.x(bit) + self.width / 2

    def numbers(self, y: float) -> None:
        """Write the numbers of the bits, centred at y."""
        for bit in range(self.count):
            self.page.text(self.middle(bit), y, str(bit), size=style.FINE, colour=style.MUTED)

    def boxes(self, value: int, y: float, fill: Callable[[int], str], strong: Callable[[int], bool]) -> None:
        """Draw the bits of `value`; fill and strong are functions of a bit's number."""
        for bit in range(self.count):
            bold = bool(strong(bit))
            edge, lw = (style.INK, 1.4) if bold else (style.RULE, 0.8)
            self.page.box(
                self.x(bit) + 0.015, y, self.width - 0.03, HIGH, fill=fill(bit), edge=edge, lw=lw, radius=0.03
            )
            self.page.text(self.middle(bit), y + HIGH / 2, str(value >> bit & 1), mono=True, size=style.FINE, bold=bold)

    def xor(self, source: int, to: int, top: float, level: float, bottom: float, on: bool) -> None:
        """Draw how bit `source` of the row above is added to bit `to` by XOR. level: the height of the sign."""
        look = {"colour": style.INK if on else style.MUTED, "lw": 1.8 if on else 1.2}
        self.page.line((self.middle(source), top), (self.middle(source), level), (self.middle(to), level), **look)
        self.page.line((self.middle(to), top), (self.middle(to), bottom), **look)
        self.page.text(self.middle(to), level, "⊕", size=13, colour=look["colour"], va="center")

    def name(self, high: int, low: int, y: float, words: str, bold: bool = False) -> None:
        """Write words below a bracket under the bits `high` to `low`; y: the lower edge of the row."""
        left, right, y = self.x(high) + 0.03, self.x(low) + self.width - 0.03, y + 0.06
        self.page.line((left, y), (left, y + 0.05), (right, y + 0.05), (right, y), colour=style.MUTED)
        self.page.text((left + right) / 2, y + 0.17, words, size=style.FINE, bold=bold)
