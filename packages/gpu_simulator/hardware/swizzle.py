"""XOR swizzles of shared-memory addresses: they permute the 16-byte chunks of a line, depending on bits of the row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from gpu_simulator.errors import SimulatorError

CHUNK_BYTES = 16
LINE_BYTES = 128


Addresses = TypeVar("Addresses", int, np.ndarray)


class LayoutError(SimulatorError, ValueError):
    """A shared-memory layout that is impossible, or that an access cannot use."""


@dataclass(frozen=True)
class Swizzle:
    """The `Swizzle<bits, base, shift>` of CUTLASS on byte addresses.

    With a positive shift: address ^ ((address >> shift) & mask), so the `bits` address bits from `base` on are XORed
    with the bits `shift` places higher. With a negative shift, the bits from `base` on are XORed into the bits |shift|
    places higher. The hardware's 128-, 64- and 32-byte swizzles of TMA and wgmma are `Swizzle(3)`, `Swizzle(2)` and
    `Swizzle(1)`. Raises `LayoutError` if |shift| < bits, or if bits or base are negative.
    """

    bits: int
    base: int = 4
    shift: int = 3

    def __post_init__(self) -> None:
        if self.bits < 0 or self.base < 0 or abs(self.shift) < self.bits:
            raise LayoutError(
                f"A swizzle of {self.bits} bits shifted by {self.shift} would XOR bits with themselves; "
                "shift must be at least bits, and neither bits nor base below 0."
            )

    @property
    def mask(self) -> int:
        """The address bits that are changed."""
        return ((1 << self.bits) - 1) << (self.base + max(-self.shift, 0))

    @property
    def source(self) -> int:
        """The address bits that are XORed into those of `mask`."""
        return ((1 << self.bits) - 1) << (self.base + max(self.shift, 0))

    def __call__(self, address: Any) -> Any:
        """The swizzled byte address. The function is its own inverse."""
        address = np.asarray(address)
        moved = address & self.source
        return address ^ (moved >> self.shift if self.shift >= 0 else moved << -self.shift)

    def step(self, swizzled: Addresses, address: Addresses, offset_bytes: int) -> Addresses:
        """The swizzled address of `address + offset_bytes`, computed from `swizzled` with a single XOR.

        `swizzled` is the swizzled form of `address`. One XOR is enough if the addition has no carry (address + offset =
        address ^ offset) and does not change the source bits; otherwise a `LayoutError` is raised.
        """
        if offset_bytes & self.source or np.any(np.asarray(address) & offset_bytes):
            raise LayoutError(
                f"A step of {offset_bytes} bytes is no single XOR here: it carries, or it changes the bits that the "
                "swizzle reads. Step within a row, from an address whose bits of the step are 0."
            )
        return swizzled ^ offset_bytes


TMA_SWIZZLES = {128: Swizzle(3), 64: Swizzle(2), 32: Swizzle(1)}


def row_swizzle(row_bytes: int, chunk_bytes: int = CHUNK_BYTES, line_bytes: int = LINE_BYTES) -> Swizzle:
    """The swizzle that makes access to a column of chunks free of bank conflicts, for rows of `row_bytes`.

    `row_bytes` is a power of two and at least two chunks; otherwise a `LayoutError` is raised. If a row fills a line or
    more, the chunk number is XORed with row mod 8; shorter rows share a line and use fewer bits. Other values of
    `chunk_bytes` and `line_bytes` describe a machine with other banks: 4 and 16 give the small example with four banks.
    """
    if row_bytes < 2 * chunk_bytes or row_bytes & (row_bytes - 1):
        raise LayoutError(
            f"Rows of {row_bytes} bytes have no XOR swizzle; use a power of two from {2 * chunk_bytes} on, "
            "or pad the rows."
        )
    base = chunk_bytes.bit_length() - 1
    across = (line_bytes // chunk_bytes).bit_length() - 1
    if row_bytes >= line_bytes:
        return Swizzle(across, base, row_bytes.bit_length() - 1 - base)
    return Swizzle((row_bytes // chunk_bytes).bit_length() - 1, base, across)
