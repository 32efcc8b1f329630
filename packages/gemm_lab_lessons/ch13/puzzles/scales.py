"""Puzzles about scales: quantising with one for 128 values, and the place of a scale in memory on Blackwell."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gemm_lab.notebook.puzzle import Facts, Right, register, register_law
from gemm_lab.notebook.trying import Missed, call
from gemm_lab_lessons.ch13.quantised import LARGEST, PER_SCALE
from gemm_lab_lessons.ch13.sums import E4M3


@register(
    "13_quantise",
    title="A scale for 128 values",
    task="Write quantise(x) for an array of FP32 with x.shape = (rows, K), where K is a multiple of 128. Return "
    "(q, scale). The array `scale` is FP32 of shape (K // 128, rows): scale[kb, row] belongs to the values 128 · kb to "
    "128 · kb + 127 of that row, and is their largest absolute value divided by 448, or 1 if they are all 0. The array "
    "`q` has the shape of x and the type E4M3: each value divided by its scale.",
    hint="tiles = x.reshape(rows, -1, 128) has the 128 values that share a scale along its last axis. np.abs(tiles)."
    "max(2) is (rows, K // 128), so the rows come first there. x.astype(E4M3) rounds to the nearest.",
)
def quantise(answer: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]) -> Facts:
    random = np.random.default_rng(13)
    spread = random.standard_normal((48, 384)) * np.exp(random.standard_normal((48, 384)) * 2)
    spread[:, 200] *= 1e4
    spread[7, 128:256] = 0
    for x in (-np.ones((2, 256), np.float32), spread.astype(np.float32)):
        value = call(answer, x.copy())
        if not isinstance(value, tuple) or len(value) != 2:
            raise Missed("quantise returns two arrays, q and scale.")
        q, scale = (np.asarray(part) for part in value)
        _tried(x, q, scale)
    return [("matrices tried", "2"), ("bytes for each 128 values", "128 + 4")]


def _tried(x: np.ndarray, q: np.ndarray, scale: np.ndarray) -> None:
    rows, blocks = x.shape[0], x.shape[1] // PER_SCALE
    if scale.shape != (blocks, rows):
        raise Missed(f"For x of shape {x.shape}, scale has the shape {scale.shape}; expected ({blocks}, {rows}).")
    if q.shape != x.shape or q.dtype != E4M3:
        raise Missed(f"q is an array of {q.dtype} of shape {q.shape}; expected E4M3 and {x.shape}.")
    tiles, whole = x.reshape(rows, blocks, PER_SCALE), q.astype(np.float64).reshape(rows, blocks, PER_SCALE)
    largest = np.abs(tiles).max(2).T
    wanted = np.where(largest > 0, largest / LARGEST, 1)
    if wrong := _first(~(np.abs(scale - wanted) <= 1e-5 * wanted)):
        raise Missed(
            f"scale[{wrong[0]}, {wrong[1]}] is {scale[wrong]:.4g}; the largest absolute value of these 128 is "
            f"{largest[wrong]:.4g}, so {wanted[wrong]:.4g} was expected."
        )
    apart = np.abs(whole * wanted.T[:, :, None] - tiles)
    if wrong := _first(~(apart <= (np.abs(tiles) / 16 + wanted.T[:, :, None] / 1024) * 1.001)):
        row, k = wrong[0], wrong[1] * PER_SCALE + wrong[2]
        raise Missed(
            f"x[{row}, {k}] is {x[row, k]:.4g}, and q times its scale is {whole[wrong] * wanted[wrong[1], row]:.4g}, "
            "which is further away than E4M3 rounds."
        )


def _first(wrong: np.ndarray) -> tuple[int, ...]:
    """The first place that is True, or an empty tuple."""
    return tuple(int(place) for place in np.argwhere(wrong)[0]) if wrong.any() else ()


@register_law(
    "13_scale_byte",
    title="Where a scale lies",
    task="Write scale_byte(row, column, columns): at which byte the scale of this row and column lies, if a matrix "
    "has `columns` scales of one byte in a row, a multiple of 4. Tiles of 128 rows and 4 columns lie one behind the "
    "other, first all of the upper 128 rows. Inside a tile, row r and column c are at byte "
    "(r % 32) · 16 + (r // 32) · 4 + c.",
    hint="A tile has 512 bytes. The tile's number is (row // 128) · (columns // 4) + column // 4, and inside it count "
    "rows and columns from its own corner.",
    cases=[
        *((0, 1, 4), (1, 0, 4), (32, 0, 4), (127, 3, 4), (0, 4, 8), (128, 0, 8)),
        *((row, column, 12) for row in (0, 31, 32, 100, 130, 255, 300) for column in (0, 3, 5, 11)),
    ],
    tried="scales tried",
)
def scale_byte(row: int, column: int, columns: int) -> Right:
    tile = row // 128 * (columns // 4) + column // 4
    why = f"It is in tile {tile}, in its row {row % 128} and its column {column % 4}."
    return tile * 512 + row % 32 * 16 + row % 128 // 32 * 4 + column % 4, why
