"""The memory accesses of a wmma load or store: the machine instructions into which ptxas translates it.

Read from the SASS of sm_75, sm_80, sm_90a and sm_120a, which do not differ in what is counted here (that of f64: of
sm_80 alone); PTX documents none of it. In shared memory, ldmatrix loads tiles of `a` and `b` with 16-bit elements in
either layout (one 8 × 8 matrix at a time), and tiles with 8-bit elements if k is their contiguous dimension. Everything
else uses ordinary loads and stores of 1 to 16 bytes per lane, with the lanes arranged over a block of 8 rows as in the
fragments of mma.sync. 16-bit tiles in the other layout than their fragment are transposed in registers (MOVM), so the
accesses are the same in both layouts.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

SHAPES = {
    "m16n16k16": (16, 16, 16),
    "m32n8k16": (32, 8, 16),
    "m8n32k16": (8, 32, 16),
    "m16n16k8": (16, 16, 8),
    "m8n8k4": (8, 8, 4),
}
ELEMENT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "tf32": 4, "s8": 1, "u8": 1, "s32": 4, "f64": 8}


class TileRequests(NamedTuple):
    """The requests of one wmma load or store.

    width: bytes per lane.
    line, byte: int arrays (requests, lanes): for each lane the row of memory (a column of a tile stored by columns),
    and the byte in it. With ldmatrix, a "request" here is one matrix: 8 lanes of 16 bytes.
    instructions: number of machine instructions for all requests on sm_80 and later.
    """

    width: int
    line: np.ndarray
    byte: np.ndarray
    instructions: int


@lru_cache(maxsize=128)
def access(matrix: str, shape: str, layout: str, kind: str, shared: bool) -> TileRequests:
    """The memory accesses for one tile.

    matrix: "a", "b", "c", "d".   layout: "row", "col".   kind: the element type.
    shared: the PTX names the shared space. ldmatrix is only used then, and not for a generic address, which NVRTC
    leaves in the loads of bf16 and tf32 of mma.h.
    """
    m, n, k = SHAPES[shape]
    rows, columns = {"a": (m, k), "b": (k, n)}.get(matrix, (m, n))
    lines, length = (rows, columns) if layout == "row" else (columns, rows)
    size, lane = ELEMENT_BYTES[kind], np.arange(32)
    if size == 8:
        return _double(matrix, layout, lines, length * size)
    if matrix in "ab":
        along = (matrix == "a") == (layout == "row")  # k runs along memory
        packed = size == 2 or along
        if shared and packed and size < 4:
            return _requests(16, lines, length * size, 8, 16, [(np.arange(8), np.zeros(8, int))])
        if packed:
            return _requests(4, lines, length * size, 8, 16, [(lane // 4, lane % 4 * 4)])
        if size == 1:
            return _requests(1, lines, length, 16, 8, [(lane % 4 * 4 + e, lane // 4) for e in range(4)])
        return _requests(4, lines, length * 4, 4, 32, [(lane % 4, lane // 4 * 4)])
    if size == 2:
        return _requests(4, lines, length * 2, 8, 16, [(lane // 4, lane % 4 * 4)])
    if (shape != "m8n32k16") == (layout == "row"):  # the two elements of a lane are neighbours in memory
        return _requests(8, lines, length * 4, 8, 32, [(lane // 4, lane % 4 * 8)])
    return _requests(4, lines, length * 4, 8, 32, [(lane % 4 * 2 + e, lane // 4 * 4) for e in (0, 1)])


def _double(matrix: str, layout: str, lines: int, line_bytes: int) -> TileRequests:
    """The requests of a tile of float64: each lane has one element of `a` or `b`, and two neighbours in a row of D."""
    lane = np.arange(32)
    if matrix in "ab":
        along = (matrix == "a") == (layout == "row")
        places = (lane // 4, lane % 4 * 8) if along else (lane % 4, lane // 4 * 8)
        return _requests(8, lines, line_bytes, lines, line_bytes, [places])
    if layout == "row":
        return _requests(16, lines, line_bytes, lines, line_bytes, [(lane // 4, lane % 4 * 16)])
    return _requests(8, lines, line_bytes, lines, line_bytes, [(lane % 4 * 2 + e, lane // 4 * 8) for e in (0, 1)])


def _requests(width: int, lines: int, line_bytes: int, block_lines: int, block_bytes: int, lanes: list) -> TileRequests:
    """The requests that cover the tile: in each block of `block_lines` × `block_bytes`, one for each pair in `lanes`.

    A pair holds the lanes' lines and bytes, relative to the block.
    """
    found = [
        (first + line, start + byte)
        for first in range(0, lines, block_lines)
        for start in range(0, line_bytes, block_bytes)
        for line, byte in lanes
    ]
    line, byte = (np.array(part) for part in zip(*found, strict=True))
    return TileRequests(width, line, byte, -(-len(found) // 4) if width == 16 else len(found))
