"""The layouts that are tried for a shared array: rows with padding, and XOR swizzles; with the C++ that makes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from gpu_simulator.hardware.banks import BANK_BYTES, LINE_BYTES
from gpu_simulator.hardware.swizzle import Swizzle
from gpu_simulator.layouts.shared_arrays import SharedArray

MOST_PADS = 8
MOST_BITS = 5
_SIMPLE = re.compile(r"[\w\s*/+-]+", re.ASCII)  # what may stand before a + without brackets


@dataclass(frozen=True)
class Padding:
    """Rows of `row_bytes`, each followed by `pad_bytes` that nobody uses."""

    array: SharedArray
    row_bytes: int
    pad_bytes: int

    def place(self, offset: np.ndarray) -> np.ndarray:
        """The new offset of a byte of the array."""
        return offset + offset // self.row_bytes * self.pad_bytes

    @property
    def bytes(self) -> int:
        """Bytes of shared memory of the array."""
        return self.array.size + -(-self.array.size // self.row_bytes) * self.pad_bytes

    @property
    def order(self) -> tuple[int, ...]:
        """Simpler layouts first: padding before swizzles, of the declared rows before others, less before more."""
        return (0, self.row_bytes != self.array.row_bytes, self.pad_bytes)

    @property
    def title(self) -> str:
        """The layout in a few words."""
        row, pad = (count // self.array.element_bytes for count in (self.row_bytes, self.pad_bytes))
        return f"padding: {pad} element{'s' * (pad > 1)} after each {row}"

    @property
    def code(self) -> str:
        """The declaration in C++, with which the index stays as it is; or the index, where i is the one before."""
        array = self.array
        row, pad = (count // array.element_bytes for count in (self.row_bytes, self.pad_bytes))
        if self.row_bytes == array.row_bytes:
            *rows, columns = array.extents
            columns = columns if _SIMPLE.fullmatch(columns) else f"({columns})"
            return f"__shared__ {array.type} {array.name}{''.join(f'[{text}]' for text in rows)}[{columns} + {pad}];"
        times = f" * {pad}" if pad > 1 else ""
        return f"{array.name}[i + i / {row}{times}]"


@dataclass(frozen=True)
class Xor:
    """The swizzle of some bits of the offset in an array; it moves elements and takes no bytes of its own."""

    array: SharedArray
    swizzle: Swizzle

    def place(self, offset: np.ndarray) -> np.ndarray:
        """The new offset of a byte of the array."""
        return self.swizzle(offset)

    @property
    def bytes(self) -> int:
        """Bytes of shared memory of the array: whole blocks of those that are exchanged."""
        block = 1 << (self.swizzle.base + self.swizzle.bits)
        return -(-self.array.size // block) * block

    @property
    def order(self) -> tuple[int, ...]:
        """As of `Padding`; swizzles that a row and a column can write come first."""
        return (1, self._by_row() is None, self.swizzle.bits, self.swizzle.shift, self.swizzle.base)

    @property
    def _low(self) -> int:
        """The lowest changed bit of an element's number; with it, `Swizzle` is that of CuTe on elements."""
        return self.swizzle.base - self.array.element_bytes.bit_length() + 1

    @property
    def title(self) -> str:
        """The layout in a few words."""
        return f"XOR: Swizzle<{self.swizzle.bits}, {self._low}, {self.swizzle.shift}>"

    def _by_row(self) -> tuple[int, int] | None:
        """(bits of the row that are left out, mask of the row) if the swizzle changes a column by its row."""
        array, low = self.array, self._low
        columns = array.values[-1] if len(array.values) > 1 else 0
        if columns < 2 or columns & (columns - 1):
            return None
        across, mask = columns.bit_length() - 1, (1 << self.swizzle.bits) - 1
        skipped, rows = low + self.swizzle.shift - across, array.values[-2]
        if low + self.swizzle.bits > across or skipped < 0:
            return None
        if len(array.values) > 2 and (rows & (rows - 1) or mask << skipped >= rows):
            return None  # the bits are partly those of an earlier index
        return skipped, mask

    @property
    def code(self) -> str:
        """The index in C++: of a row and a column where the array has them, or else of a flat index i."""
        name, low = self.array.name, self._low
        if found := self._by_row():
            skipped, mask = found
            row = f"row >> {skipped} & {mask}" if skipped else f"row & {mask}"
            moved = f"({row}) << {low}" if low else row
            before = "".join("[…]" for _ in self.array.values[:-2])
            return f"{name}{before}[row][column ^ ({moved})]"
        mask = ((1 << self.swizzle.bits) - 1) << low
        index = f"i ^ ((i >> {self.swizzle.shift}) & {mask})"
        if len(self.array.values) < 2:
            return f"{name}[{index}]"
        return f"(&{name}{'[0]' * len(self.array.values)})[{index}]"


Layout = Padding | Xor


def candidates(array: SharedArray, widest: int, rows: Iterable[int]) -> Iterator[Layout]:
    """The layouts to try. widest: bytes of the widest access of a lane, which stays aligned and in one piece.

    rows: bytes of the rows after which padding is tried; those that cut an access are left out.
    """
    unit = max(widest, array.element_bytes)
    for row in dict.fromkeys(rows):
        if 0 < row < array.size and row % unit == 0:
            for count in range(1, MOST_PADS + 1):
                yield Padding(array, row, count * unit)
    first = max(unit, BANK_BYTES).bit_length() - 1
    top = max(array.size - 1, 1).bit_length()
    if 1 << (max(unit, BANK_BYTES).bit_length() - 1) != max(unit, BANK_BYTES):
        return  # elements of no power of two have no bits of their own
    across = LINE_BYTES.bit_length() - 1
    for base in range(first, across):
        for bits in range(1, min(MOST_BITS, across - base) + 1):
            for shift in range(bits, top - base - bits + 1):
                yield Xor(array, Swizzle(bits, base, shift))
