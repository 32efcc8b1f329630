"""The products that come out if a kernel copies its k tiles of A or B from a wrong place of the matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np


def products_of_wrong_tiles(a: np.ndarray, b: np.ndarray, block: Sequence[int]) -> Iterator[tuple[np.ndarray, str]]:
    """Products of A (M, K) and B (K, N) whose tiles are read from a wrong place, in one operand or in both.

    "first": each turn reads the tile of the first one.   "exchanged": row and column of the tile's corner are
    exchanged; what then lies outside of the matrix counts as 0, as TMA has it.
    """
    rows, columns, step = block[:3]
    sides = {"A": _tile_rows(a, rows, step), "B": _tile_rows(np.ascontiguousarray(b.T), columns, step)}
    says = {
        "first": "multiplied the first k tile of {} in each turn: either the copy does not move on along K, or the "
        "products read the same buffer again.",
        "exchanged": "took the tile of {} with its two coordinates exchanged. A coordinate along K moves on with each "
        "k tile; TMA takes the innermost coordinate first.",
    }
    for how, sentence in says.items():
        for wrong in ("AB", "A", "B"):
            left, right = (sides[side][how if side in wrong else "right"] for side in "AB")
            yield (left @ right.T).astype(np.float64), "It looks as if it " + sentence.format(" and of ".join(wrong))


def _tile_rows(x: np.ndarray, height: int, step: int) -> dict[str, np.ndarray]:
    """An operand with its K along the rows, (edge, K), as tiles of (height, step) from each kind of place make it."""
    edge, k = x.shape
    padded = np.zeros((max(edge, k + height), max(k, edge + step)), x.dtype)
    padded[:edge, :k] = x
    exchanged = np.zeros_like(x)
    for row in range(0, edge, height):
        for column in range(0, k, step):
            part = exchanged[row : row + height, column : column + step]
            part[...] = padded[column : column + part.shape[0], row : row + part.shape[1]]
    first = np.tile(x[:, :step], (1, -(-k // step)))[:, :k]
    return {"right": x, "first": first, "exchanged": exchanged}
