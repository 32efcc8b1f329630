"""Sums of FP8 products as tensor cores make them, with a number of fraction bits to choose, and their error by K."""

from __future__ import annotations

import ml_dtypes
import numpy as np

E4M3 = ml_dtypes.float8_e4m3fn
BLOCK = 32  # products that one step of wgmma adds to the accumulator
HOPPER, BLACKWELL = 13, 25  # fraction bits that a sum of FP8 products keeps
LEAST, LEAST_SUM = -6, -126  # exponents of the smallest normal numbers of E4M3 and of FP32


def _exponents(x: np.ndarray, least: int) -> np.ndarray:
    return np.maximum(np.frexp(np.where(x == 0, 2.0**least, x))[1] - 1, least)


def add_block(c: np.ndarray, a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """c + a · b as one step of a tensor core that keeps so many fraction bits; a: (M, k), b: (k, N), float64."""
    products = a[:, :, None] * b[None]
    tops = (_exponents(a, LEAST)[:, :, None] + _exponents(b, LEAST)[None]).max(1)
    step = np.ldexp(1.0, np.maximum(tops, _exponents(c, LEAST_SUM)) - bits)
    total = (np.trunc(products / step[:, None]).sum(1) + np.trunc(c / step)) * step
    step = np.ldexp(1.0, _exponents(total, LEAST_SUM) - bits)
    return np.trunc(total / step) * step


def product(a: np.ndarray, b: np.ndarray, bits: int = HOPPER, promoted: int = 0) -> np.ndarray:
    """a · b of FP8 matrices with such sums, as float32.

    promoted: after so many values of K, a multiple of 32, the sum is added to an FP32 total and begins again at 0.
    """
    a, b = a.astype(np.float64), b.astype(np.float64)
    c = total = np.zeros((a.shape[0], b.shape[1]))
    for k in range(0, a.shape[1], BLOCK):
        c = add_block(c, a[:, k : k + BLOCK], b[k : k + BLOCK], bits)
        if promoted and (k + BLOCK) % promoted == 0:
            total, c = (total.astype(np.float32) + c.astype(np.float32)).astype(np.float64), np.zeros_like(c)
    return (total.astype(np.float32) + c.astype(np.float32)) if promoted else c.astype(np.float32)


def error(found: np.ndarray, exact: np.ndarray) -> float:
    """‖found - exact‖ / ‖exact‖."""
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))
