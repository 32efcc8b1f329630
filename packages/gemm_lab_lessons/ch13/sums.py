"""Sums of FP8 products as tensor cores make them, with a number of fraction bits to choose, and their error."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np

from gpu_simulator.hardware.exact_sums import exact_sum, sum_rule

E4M3 = ml_dtypes.float8_e4m3fn
WGMMA = sum_rule(90, "wgmma", "e4m3", "e4m3", "f32")  # of Hopper
HOPPER, BLACKWELL, BLOCK = WGMMA.fraction, 25, WGMMA.products  # fraction bits that are kept; products of one step


def add_block(c: np.ndarray, a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """c + a · b as Hopper's tensor cores would compute it, if they kept so many fraction bits; all float32."""
    return exact_sum(a, b, c, replace(WGMMA, fraction=bits, result=min(bits, 23)))


def product(a: np.ndarray, b: np.ndarray, bits: int = HOPPER, promoted: int = 0) -> np.ndarray:
    """a · b of FP8 matrices with such sums, float32.

    promoted: after so many values of K, a multiple of 32, the sum is added to an FP32 total and begins again at 0.
    """
    a, b = a.astype(np.float32), b.astype(np.float32)
    c = np.zeros((a.shape[0], b.shape[1]), np.float32)
    total = np.zeros_like(c)
    for k in range(0, a.shape[1], BLOCK):
        c = add_block(c, a[:, k : k + BLOCK], b[k : k + BLOCK], bits)
        if promoted and (k + BLOCK) % promoted == 0:
            total, c = total + c, np.zeros_like(c)
    return total + c


def error(found: np.ndarray, exact: np.ndarray) -> float:
    """‖found - exact‖ / ‖exact‖."""
    return float(np.linalg.norm(found.astype(np.float64) - exact) / np.linalg.norm(exact))
