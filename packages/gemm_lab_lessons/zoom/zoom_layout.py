"""Finds how a tile lies in shared memory, from the addresses that a kernel used: rows, padding, an XOR."""

from __future__ import annotations

import numpy as np

CHUNK = 16


def layout_of(addresses: np.ndarray, rows: np.ndarray, bytes_: np.ndarray) -> dict | None:
    """The layout of one tile, or None if neither of the two rules describes every address.

    addresses: in shared memory.   rows, bytes_: the row of the tile as it is stored, and the byte in it, of each.
    {"base", "stride"}: row × stride + byte.   {"base", "stride", "xor": [[from, to], …]}: then bit `from` of the result
    is also added, by XOR, to bit `to`. The result is checked against every address, so it is never a guess.
    """
    if len(addresses) < 2 or len(np.unique(rows)) < 2:
        return None
    base, rows, bytes_ = int(addresses.min()), rows - rows.min(), bytes_ - bytes_.min()
    at = addresses - base
    first, second = int(np.flatnonzero(rows == 0)[0]), np.flatnonzero((rows == 1) & (bytes_ == 0))
    if len(second):
        stride = int(at[second[0]] - (at[first] - bytes_[first]))
        if stride > 0 and (rows * stride + bytes_ == at).all():
            return {"base": base, "stride": stride, "xor": []}
    width = int(bytes_.max()) // CHUNK * CHUNK + CHUNK
    if width & (width - 1):
        return None
    plain, arrows = rows * width + bytes_, []
    known = dict(zip(plain.tolist(), at.tolist(), strict=True))
    if known.get(0) != 0:
        return None
    for bit in range(int(plain.max()).bit_length()):
        if 1 << bit not in known:
            continue
        moved = known[1 << bit] ^ 1 << bit
        arrows += [[bit, to] for to in range(moved.bit_length()) if moved >> to & 1]
    made = plain.copy()
    for source, to in arrows:
        if to >= source:
            return None
        made ^= (plain >> source & 1) << to
    return {"base": base, "stride": width, "xor": arrows} if arrows and (made == at).all() else None
