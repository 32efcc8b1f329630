"""Sparsity metadata of mma.sp: which bits of which lane tell where the stored elements of A belong.

A row of A is divided into chunks of four elements, of which two are stored; with TF32 into chunks of two, of which one
is stored. Four bits of metadata belong to each chunk: two indices of two bits, that of the first stored element in the
low ones. A TF32 element counts as two halves, so that the four bits name the halves 0 and 1, or 2 and 3.

The metadata of the rows g and g + 8 lie in the lanes 4g … 4g + 3 (a quad), and the sparsity selector names the lanes of
the quad that contribute. Elements of 16 and 32 bits: each contributing lane has four chunks of row g in its lower half
and the same chunks of row g + 8 in its upper half. Elements of 8 bits: one lane has eight chunks of row g, the next the
same chunks of row g + 8.

Source: PTX ISA, "Sparse matrix storage" and "Matrix fragments for multiply-accumulate operation with sparse matrix A".
The ISA shows the lanes of the metadata only in figures. For k = 32 of 16 bits, 16 of TF32 and 64 of 8 bits they are
taken from CUTLASS (ELayout in cute/atom/mma_traits_sm90_gmma_sparse.hpp); the smaller shapes follow the same rule.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

QUAD = 4
ORDERED = (0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110)  # the first index is below the second
ANY_ORDER = tuple(four for four in range(16) if four & 3 != four >> 2)
HALVES = (0b0100, 0b1110)  # of TF32


def chunk(bits: int) -> int:
    """Elements of A in a chunk. bits: of an element."""
    return 2 if bits == 32 else 4


def contributing(bits: int, k: int) -> int:
    """Lanes of a quad that contribute metadata: 1, 2 or 4. k: columns of A."""
    return k // chunk(bits) // 4


def selectors(bits: int, k: int) -> int:
    """How many values the sparsity selector has; they are 0, 1 …"""
    return QUAD // contributing(bits, k)


@lru_cache(maxsize=64)
def holders(bits: int, k: int, selector: int) -> tuple[np.ndarray, np.ndarray]:
    """(lane, lowest of its four bits) for every row and chunk: two arrays (16, chunks)."""
    row, number = np.ix_(range(16), range(k // chunk(bits)))
    half, first = row // 8, QUAD * (row % 8) + selector * contributing(bits, k)
    if bits == 8:
        lane, bit = first + 2 * (number // 8) + half, 4 * (number % 8)
    else:
        lane, bit = first + number // 4, 16 * half + 4 * (number % 4)
    lanes, bits_at = np.broadcast_arrays(lane, bit)
    return lanes, bits_at


def meaningful(kind: str, ordered: bool) -> tuple[int, ...]:
    """The values of four bits that PTX defines. kind: type of A.   ordered: for mma.sp::ordered_metadata."""
    if kind == "tf32":
        return HALVES
    return ORDERED if ordered or kind in ("e4m3", "e5m2") else ANY_ORDER


def columns(words: np.ndarray, bits: int, k: int, selector: int) -> tuple[np.ndarray, np.ndarray]:
    """The column of A of each stored element, (warps, 16, k / 2), and the four bits of each chunk, (warps, 16, chunks).

    words: (warps, 32) uint32, the metadata of each lane.
    """
    lane, bit = holders(bits, k, selector)
    four = (words[:, lane] >> bit.astype(np.uint32) & np.uint32(15)).astype(np.int64)
    start = chunk(bits) * np.arange(lane.shape[1])
    if bits == 32:
        return start + (four & 3) // 2, four
    return np.stack([start + (four & 3), start + (four >> 2)], axis=-1).reshape(*four.shape[:2], -1), four
