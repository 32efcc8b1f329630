"""The address of each element of a row-major tile in shared memory: plain, padded, or swizzled by an XOR.

TileLayout(64, 128, layout="xor").address(row=5, byte=32)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gpu_simulator.hardware.swizzle import CHUNK_BYTES, TMA_SWIZZLES, LayoutError, Swizzle, row_swizzle

ELEMENT_BYTES = {"f64": 8, "f32": 4, "tf32": 4, "f16": 2, "bf16": 2, "s8": 1, "u8": 1, "e4m3": 1, "e5m2": 1}
LAYOUTS = ("plain", "padded", "xor", "swizzle", "tma32", "tma64", "tma128")
MOST_ROWS, MOST_ROW_BYTES = 512, 1024
BANK_BYTES = 4


@dataclass(frozen=True)
class TileLayout:
    """A tile of `rows` rows of `row_bytes` bytes, its first byte at address 0 of shared memory.

    layout   "plain"; "padded" (`pad_bytes` after each row); "xor" (the XOR that fits the row, `row_swizzle`);
             "swizzle" (Swizzle(bits, base, shift) of byte addresses); "tma32", "tma64", "tma128" (boxes whose width
             is the mode's, each with dense rows; the boxes of the same rows follow one another)
    banks    32; 4 is a toy machine with lines of 16 bytes and warps of 4 lanes

    Raises `LayoutError` with the reason if no such tile exists.
    """

    rows: int = 64
    row_bytes: int = 128
    element: str = "f16"
    layout: str = "xor"
    pad_bytes: int = 16
    bits: int = 3
    base: int = 4
    shift: int = 3
    banks: int = 32

    def __post_init__(self):
        if problem := self.problem():
            raise LayoutError(problem)

    @property
    def element_bytes(self) -> int:
        return ELEMENT_BYTES[self.element]

    @property
    def columns(self) -> int:
        """Number of elements in a row."""
        return self.row_bytes // self.element_bytes

    @property
    def line_bytes(self) -> int:
        """Bytes of one line, that is, one word of each bank."""
        return self.banks * BANK_BYTES

    @property
    def chunk_bytes(self) -> int:
        """Bytes of the pieces that an XOR layout moves: 16, or one word on the toy machine."""
        return CHUNK_BYTES if self.banks == 32 else BANK_BYTES

    @property
    def row_stride(self) -> int:
        """Bytes from one row to the next, before any XOR."""
        if self.layout == "padded":
            return self.row_bytes + self.pad_bytes
        return int(self.layout[3:]) if self.layout.startswith("tma") else self.row_bytes

    @property
    def size_bytes(self) -> int:
        """Bytes of shared memory that the tile occupies, including the padding of its last row."""
        return self.rows * self.row_bytes + (self.rows * self.pad_bytes if self.layout == "padded" else 0)

    @cached_property
    def swizzle(self) -> Swizzle | None:
        if self.layout == "xor":
            return row_swizzle(self.row_bytes, self.chunk_bytes, self.line_bytes)
        if self.layout == "swizzle":
            return Swizzle(self.bits, self.base, self.shift)
        return TMA_SWIZZLES[int(self.layout[3:])] if self.layout.startswith("tma") else None

    def plain_address(self, row, byte):
        """The byte address before the XOR."""
        row, byte = np.asarray(row), np.asarray(byte)
        if self.layout.startswith("tma"):
            width = self.row_stride
            return byte // width * (self.rows * width) + row * width + byte % width
        return row * self.row_stride + byte

    def address(self, row, byte):
        """The byte address of byte `byte` of row `row`; arrays broadcast."""
        plain = self.plain_address(row, byte)
        return plain if self.swizzle is None else self.swizzle(plain)

    def place(self, address):
        """(row, byte) of the tile at an address, the inverse of `address`; row -1 in the padding."""
        address = np.asarray(address)
        plain = address if self.swizzle is None else self.swizzle(address)
        if self.layout.startswith("tma"):
            width = self.row_stride
            box, within = np.divmod(plain, self.rows * width)
            return within // width, box * width + within % width
        row, byte = np.divmod(plain, self.row_stride)
        return np.where(byte < self.row_bytes, row, -1), byte

    def changed(self, **values) -> TileLayout:
        """The same tile with other values. Raises `LayoutError` if no such tile exists."""
        return replace(self, **values)

    @property
    def name(self) -> str:
        """The layout in words, such as “XOR, Swizzle(3, 4, 3)”."""
        words = {"plain": "plain", "padded": f"padded by {self.pad_bytes} bytes"}
        if self.layout in words:
            return words[self.layout]
        s = self.swizzle
        kind = {"xor": "XOR, ", "swizzle": ""}.get(self.layout, f"TMA {self.layout[3:]}-byte mode, ")
        return f"{kind}Swizzle({s.bits}, {s.base}, {s.shift})"

    # ---- Tiles that do not exist ----

    def problem(self) -> str:
        """A sentence that says why no such tile exists, else "". The JavaScript version uses the same words."""
        if self.layout not in LAYOUTS:
            return f"There is no layout “{self.layout}”; there are {', '.join(LAYOUTS)}."
        if self.element not in ELEMENT_BYTES:
            return f"There is no element type “{self.element}”; there are {', '.join(ELEMENT_BYTES)}."
        if self.banks not in (4, 32):
            return f"A machine of {self.banks} banks is not drawn here; use 32, or 4 for the toy."
        if self.banks == 4 and (self.element_bytes != BANK_BYTES or self.layout.startswith("tma")):
            return "The toy machine of 4 banks has only f32, in the layouts plain, padded, xor and swizzle."
        if not 1 <= self.rows <= MOST_ROWS:
            return f"A tile has 1 to {MOST_ROWS} rows, not {self.rows}."
        least = BANK_BYTES * 4
        if not least <= self.row_bytes <= MOST_ROW_BYTES or self.row_bytes % least:
            return f"A row has {least} to {MOST_ROW_BYTES} bytes in steps of {least}, not {self.row_bytes}."
        return getattr(self, f"_problem_{self.layout.rstrip('0123456789')}", str)()

    def _problem_padded(self) -> str:
        if 0 <= self.pad_bytes <= 256 and self.pad_bytes % BANK_BYTES == 0:
            return ""
        return f"Rows are padded by 0 to 256 bytes in steps of 4, not by {self.pad_bytes}."

    def _problem_xor(self) -> str:
        if self.row_bytes >= 2 * self.chunk_bytes and self.row_bytes & (self.row_bytes - 1) == 0:
            return ""
        return (
            f"Rows of {self.row_bytes} bytes have no XOR swizzle; use a power of two from {2 * self.chunk_bytes} "
            "on, or pad the rows."
        )

    def _problem_swizzle(self) -> str:
        bits, base, shift = self.bits, self.base, self.shift
        if not 0 <= bits <= 6 or not 0 <= base <= 8 or abs(shift) > 12:
            return "A swizzle has 0 to 6 bits, a base of 0 to 8 and a shift of -12 to 12."
        if abs(shift) < bits:
            return (
                f"Swizzle({bits}, {base}, {shift}) would XOR bits with themselves; "
                "shift has to be at least as large as bits."
            )
        if bits == 0:
            return ""
        if self.row_bytes & (self.row_bytes - 1):
            return (
                f"Rows of {self.row_bytes} bytes are no power of two, so an XOR would carry elements into other "
                "rows; use 64, 128 or 256, or pad the rows."
            )
        highest = base + max(-shift, 0) + bits
        if 1 << highest > self.row_bytes:
            room = max(self.row_bytes.bit_length() - 1 - base - max(-shift, 0), 0)
            return (
                f"Swizzle({bits}, {base}, {shift}) changes address bits up to {highest - 1}, but a row of "
                f"{self.row_bytes} bytes has bits 0 to {self.row_bytes.bit_length() - 2}: elements would leave "
                f"their row. Here bits can be at most {room}."
            )
        return ""

    def _problem_tma(self) -> str:
        width = int(self.layout[3:])
        if self.row_bytes % width:
            return (
                f"TMA's {width}-byte mode fills boxes that are {width} bytes wide; rows of {self.row_bytes} bytes "
                f"do not divide into them."
            )
        if self.row_bytes > width and self.rows % 8:
            return (
                f"Rows of {self.row_bytes} bytes take {self.row_bytes // width} boxes, and each has to begin where "
                f"the XOR pattern of 8 rows does: the rows have to be a multiple of 8, and {self.rows} is not."
            )
        return ""
