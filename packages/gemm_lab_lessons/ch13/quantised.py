"""Matrices quantised to E4M3 with a scale for everything, for a row, or for 128 values, and the error of a product.

The matrix is made of the pictures of this series: a row has the energies of the frequencies of one patch of a picture.
"""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from gemm_lab.config import data_dir
from gemm_lab_lessons.ch13.sums import E4M3, error, product
from gemm_look.table import ShownAsTable, Table

LARGEST = 448.0  # of E4M3
SIDE, PER_SCALE = 32, 128  # pixels of a patch; values along K that share a scale
PICTURES = ("cta_pairs", "journey", "memory_hierarchy", "padding", "stage_ring", "tensor_memory", "tma_box")
KINDS = {
    "tensor": "one scale for each matrix",
    "row": "one for each row of A and column of B",
    "block": "1 × 128 of A, 128 × 128 of B",
}


def energies(rows: int = 128) -> np.ndarray:
    """(rows, 1024), float32: the energy of each frequency in so many patches of 32 × 32 pixels, low ones first.

    An energy is the square of a coefficient of the cosine transform. Patches without contrast are left out.
    """
    from matplotlib.image import imread

    found = []
    for name in PICTURES:
        pixels = imread(data_dir("images") / f"{name}.png")
        grey = pixels[..., :3].mean(-1) if pixels.ndim == 3 else pixels
        high, wide = (length // SIDE * SIDE for length in grey.shape)
        patches = grey[:high, :wide].reshape(high // SIDE, SIDE, wide // SIDE, SIDE).swapaxes(1, 2)
        found.append(patches.reshape(-1, SIDE, SIDE)[patches.std((2, 3)).ravel() > 0.1])
    patches = np.concatenate(found)
    patches = patches[:: len(patches) // rows][:rows]
    place = np.arange(SIDE)
    waves = np.cos(np.pi * (2 * place + 1) * place[:, None] / (2 * SIDE))
    order = np.argsort((place[:, None] + place).ravel(), kind="stable")
    return np.square((waves @ patches @ waves.T).reshape(rows, -1)[:, order]).astype(np.float32)


def weights(a: np.ndarray, columns: int = 128) -> np.ndarray:
    """(K, columns), float32: random weights, divided by the mean of their column of `a`, so that all columns count."""
    random = np.random.default_rng(13).standard_normal((a.shape[1], columns))
    return (random / a.mean(0)[:, None]).astype(np.float32)


def scales(x: np.ndarray, kind: str, rows: int = 1) -> np.ndarray:
    """The scale of every element of x, whose K runs along axis 1. rows: that share a scale of the kind "block"."""
    size = np.abs(x).astype(np.float64)
    if kind == "tensor":
        largest = np.full_like(size, size.max())
    elif kind == "row":
        largest = np.broadcast_to(size.max(1, keepdims=True), x.shape)
    else:
        tiles = size.reshape(x.shape[0] // rows, rows, x.shape[1] // PER_SCALE, PER_SCALE)
        largest = np.broadcast_to(tiles.max((1, 3), keepdims=True), tiles.shape).reshape(x.shape)
    return np.where(largest > 0, largest / LARGEST, 1).astype(np.float32)


def in_blocks(b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """B, (K, N), as E4M3 with a scale for each 128 × 128, and the scales, (N / 128, K / 128), as kernels read them."""
    of = scales(b.T, "block", PER_SCALE)
    return (b / of.T).astype(E4M3), np.ascontiguousarray(of[::PER_SCALE, ::PER_SCALE])


@dataclass(frozen=True, repr=False)
class Errors(ShownAsTable):
    """Relative errors of a · b by the kind of scale: of the rounding to E4M3 alone, and with both sums of Hopper."""

    of: dict[str, tuple[float, float | None, float]]  # exact sums, 13 bits over all of K, promoted after each 128
    bf16: float  # of both matrices rounded to BF16, with exact sums

    def _table(self) -> Table:
        head = ["scales", "exact sums", "13 bits for all of K", "promoted every 128"]
        rows = [
            [KINDS[kind], *("–" if one is None else f"{100 * one:.2f} %" for one in of)] for kind, of in self.of.items()
        ]
        return Table(head, rows, "‖found − exact‖ / ‖exact‖")


def errors(a: np.ndarray, b: np.ndarray) -> Errors:
    """Quantise both matrices in each kind, multiply, and compare with a · b in FP64. M and N are multiples of 128."""
    exact, found = a.astype(np.float64) @ b.astype(np.float64), {}
    for kind in KINDS:
        of_a, of_b = scales(a, kind), scales(b.T, kind, PER_SCALE).T
        low_a, low_b = (a / of_a).astype(E4M3).astype(np.float32), (b / of_b).astype(E4M3).astype(np.float32)
        rounded = (low_a * of_a).astype(np.float64) @ (low_b * of_b)
        # Scales that differ along K are applied at each promotion, so without promotions there is no such sum.
        fast = None if kind == "block" else error(product(low_a, low_b) * of_a[:, :1] * of_b[:1], exact)
        found[kind] = error(rounded, exact), fast, error(_scaled(low_a, of_a, low_b, of_b), exact)
    in_bf16 = (x.astype(ml_dtypes.bfloat16).astype(np.float64) for x in (a, b))
    return Errors(found, error(np.matmul(*in_bf16), exact))


def _scaled(a: np.ndarray, of_a: np.ndarray, b: np.ndarray, of_b: np.ndarray) -> np.ndarray:
    """a · b with sums of 13 bits, which are scaled and added to FP32 totals after each 128 values of K."""
    starts = range(0, a.shape[1], PER_SCALE)
    parts = (product(a[:, k : k + PER_SCALE], b[k : k + PER_SCALE]) * (of_a[:, k, None] * of_b[k]) for k in starts)
    return sum(parts, np.zeros((a.shape[0], b.shape[1]), np.float32))
