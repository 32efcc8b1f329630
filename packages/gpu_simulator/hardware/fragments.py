"""Assembles tiles from the registers of a warp's fragments of `mma.sync`, and takes them apart again.

The layout of a fragment is `mma_layouts.Mma.coordinates`; the tests hold these functions to it.
"""

from __future__ import annotations

import numpy as np


def gather_a(registers: np.ndarray, each: int) -> np.ndarray:
    """Assemble A tiles from the registers of each warp. registers: (tiles, registers, warps, 32, each) elements.

    Returns a copy of shape (warps, tiles · 16, k), where k = registers // 2 · 4 · each.
    """
    tiles, count, warps = registers.shape[:3]
    halves = 2 if count > 1 else 1
    parts = registers.reshape(tiles, count // halves, halves, warps, 8, 4, each)
    out = parts.transpose(3, 0, 2, 4, 1, 5, 6)
    return out.reshape(warps, tiles * 8 * halves, count // halves * 4 * each)


def gather_b(registers: np.ndarray, each: int) -> np.ndarray:
    """Assemble transposed B tiles from the registers of each warp. registers: (tiles, registers, warps, 32, each).

    Returns a copy of shape (warps, tiles · 8, k); each of its rows is a column of B.
    """
    tiles, count, warps = registers.shape[:3]
    parts = registers.reshape(tiles, count, warps, 8, 4, each)
    return parts.transpose(2, 0, 3, 1, 4, 5).reshape(warps, tiles * 8, count * 4 * each)


def gather_c(elements: np.ndarray) -> np.ndarray:
    """Assemble accumulator tiles from registers. elements: (rows of tiles, columns of tiles, 2, warps, 32, 2).

    The third axis is the row half (element // 2), the last the column (element % 2). Returns (warps, rows · 16, columns
    · 8).
    """
    mi, ni, halves, warps = elements.shape[:4]
    parts = elements.reshape(mi, ni, halves, warps, 8, 4, 2)
    return parts.transpose(3, 0, 2, 4, 1, 5, 6).reshape(warps, mi * 8 * halves, ni * 8)


def scatter_c(tile: np.ndarray, mi: int, ni: int) -> np.ndarray:
    """The inverse of `gather_c`: (warps, mi · 16, ni · 8) to a view of shape (mi, ni, 2, 2, warps, 8, 4).

    The axes are row of tiles, column of tiles, row half, column within the pair, warp, group and member.
    """
    warps = tile.shape[0]
    halves = tile.shape[1] // (8 * mi)
    return tile.reshape(warps, mi, halves, 8, ni, 4, 2).transpose(1, 4, 2, 6, 0, 3, 5)
