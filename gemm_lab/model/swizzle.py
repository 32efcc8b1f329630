"""XOR swizzles of shared-memory addresses: chunks of 16 bytes change places within a line, by a few bits of the row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CHUNK_BYTES = 16


@dataclass(frozen=True)
class Swizzle:
    """address ^ ((address >> shift) & mask): `bits` address bits from `base` on are XORed with those `shift` above.

    The hardware's 128-, 64- and 32-byte swizzles of TMA and wgmma are `Swizzle(3)`, `Swizzle(2)` and `Swizzle(1)`.
    """

    bits: int
    base: int = 4
    shift: int = 3

    def __post_init__(self):
        if self.bits < 0 or self.base < 0 or self.shift < self.bits:
            raise ValueError(
                f"a swizzle of {self.bits} bits shifted by {self.shift} would XOR bits with themselves; "
                "shift must be at least bits"
            )

    @property
    def mask(self) -> int:
        return ((1 << self.bits) - 1) << self.base

    def __call__(self, address):
        """The swizzled byte address; its own inverse."""
        address = np.asarray(address)
        return address ^ ((address >> self.shift) & self.mask)


def row_swizzle(row_bytes: int) -> Swizzle:
    """The XOR that frees rows of `row_bytes` (a power of two, 32 or more) of ldmatrix conflicts.

    Rows of 128 bytes or more XOR the chunk with row mod 8; shorter rows share a line and XOR with fewer bits.
    """
    if row_bytes < 32 or row_bytes & (row_bytes - 1):
        raise ValueError(
            f"rows of {row_bytes} bytes have no XOR swizzle; use a power of two from 32 on, or pad the rows"
        )
    if row_bytes >= 128:
        return Swizzle(3, 4, row_bytes.bit_length() - 1 - 4)
    return Swizzle((row_bytes // CHUNK_BYTES).bit_length() - 1, 4, 3)


def tile_addresses(rows: int, row_bytes: int, swizzle: Swizzle | None = None, pad_bytes: int = 0) -> np.ndarray:
    """Byte address of every 16-byte chunk of a row-major tile: shape (rows, row_bytes // 16)."""
    plain = np.arange(rows)[:, None] * (row_bytes + pad_bytes) + np.arange(row_bytes // CHUNK_BYTES) * CHUNK_BYTES
    return plain if swizzle is None else swizzle(plain)
