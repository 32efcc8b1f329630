"""Which element of a tile each lane of a warp holds, for `mma.sync` and `ldmatrix`.

Source: PTX ISA, "Matrix Fragments for mma.m16n8k8 / m16n8k16" and "ldmatrix". With `group = lane // 4` and `member =
lane % 4`, a 32-bit register holds `32 / bits` neighbours along K:

  A  register r: row group + 8 (r % 2), columns (r // 2) · 4e + member · e + 0 … e - 1      e elements per register
  B  register r: column group, rows r · 4e + member · e + 0 … e - 1
  C, D element i: row group + 8 (i // 2), column 2 member + i % 2
"""

from __future__ import annotations

import numpy as np

LANES = 32


def a_coordinates(k: int, bits: int = 16) -> np.ndarray:
    """(row, column) of A(16 × k) by lane, register and element: shape (32, registers, 32 // bits, 2)."""
    each = 32 // bits
    lane, register, element = np.ix_(range(LANES), range(16 * k * bits // 32 // LANES), range(each))
    row = lane // 4 + 8 * (register % 2) + 0 * element
    column = register // 2 * 4 * each + lane % 4 * each + element
    return np.stack(np.broadcast_arrays(row, column), axis=-1)


def b_coordinates(k: int, bits: int = 16) -> np.ndarray:
    """(row, column) of B(k × 8) by lane, register and element: shape (32, registers, 32 // bits, 2)."""
    each = 32 // bits
    lane, register, element = np.ix_(range(LANES), range(8 * k * bits // 32 // LANES), range(each))
    row = register * 4 * each + lane % 4 * each + element
    return np.stack(np.broadcast_arrays(row, lane // 4 + 0 * row), axis=-1)


def c_coordinates() -> np.ndarray:
    """(row, column) of C or D(16 × 8) by lane and element: shape (32, 4, 2). FP16 packs 2r, 2r + 1 in register r."""
    lane, element = np.ix_(range(LANES), range(4))
    return np.stack(np.broadcast_arrays(lane // 4 + 8 * (element // 2), lane % 4 * 2 + element % 2), axis=-1)


def warpgroup_c_coordinates(n: int) -> np.ndarray:
    """(row, column) of D(64 × n) of wgmma by thread of the warpgroup and element: shape (128, n / 2, 2).

    Each warp has 16 rows, in tiles of 16 × 8 as in `c_coordinates`. FP16 packs elements 2r, 2r + 1 in register r.
    """
    tile = c_coordinates()
    warp, lane, block, element = np.ix_(range(4), range(LANES), range(n // 8), range(4))
    row = warp * 16 + tile[lane, element, 0] + 0 * block
    column = block * 8 + tile[lane, element, 1] + 0 * warp
    return np.stack([row, column], axis=-1).reshape(4 * LANES, n // 2, 2)


def warpgroup_a_coordinates(k: int, bits: int = 16) -> np.ndarray:
    """(row, column) of A(64 × k) of wgmma in registers: shape (128, registers, 32 // bits, 2); 16 rows per warp."""
    tile = a_coordinates(k, bits)
    rows = np.zeros((4, *tile.shape), int)
    rows[..., 0] = 16 * np.arange(4)[:, None, None, None]
    return (tile + rows).reshape(4 * LANES, *tile.shape[1:])


def ldmatrix_coordinates(transposed: bool = False) -> np.ndarray:
    """(row, column) of an 8 × 8 matrix of 16-bit elements by lane and half of the register: shape (32, 2, 2)."""
    lane, half = np.ix_(range(LANES), range(2))
    row, column = lane // 4 + 0 * half, lane % 4 * 2 + half
    return np.stack(np.broadcast_arrays(*((column, row) if transposed else (row, column))), axis=-1)


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
