"""Sums of FP8 products as tensor cores make them, with a number of fraction bits to choose, and their error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np

from gemm_look import style
from gpu_simulator.hardware.exact_sums import exact_sum, sum_rule

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


# ---- Error by K ----

SIGNS = {"products of both signs": (style.BLUE, False), "positive products": (style.VERMILION, True)}


def drawn(k: int, positive: bool, side: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """A (side, k) and B (k, side) of N(0, 1), or of its absolute values, float64."""
    random = np.random.default_rng(k)
    found = random.standard_normal((side, k)), random.standard_normal((k, side))
    return (np.abs(found[0]), np.abs(found[1])) if positive else found


def operands(k: int, positive: bool, side: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """These matrices rounded to E4M3."""
    a, b = drawn(k, positive, side)
    return a.astype(E4M3), b.astype(E4M3)


def rounding_error(k: int, positive: bool) -> float:
    """The error of a · b that comes from rounding both to E4M3, with exact sums."""
    a, b = (x.astype(np.float64) for x in operands(k, positive))
    return error(a @ b, np.matmul(*drawn(k, positive)))


@style.drawn
def plot_error_by_k(ks: Iterable[int] = tuple(2**e for e in range(7, 14)), promoted: int = 128) -> Figure:
    """The relative error of a sum of 13 bits over K, for both kinds of signs, with promotions (dashed) and without."""
    ks, labels = list(ks), []
    fig = style.figure(style.WIDTH, 4.4)
    ax = style.axes(fig, left=0.8, right=2.65, top=0.55, bottom=0.95)
    for words, (colour, positive) in SIGNS.items():
        for every, dash in ((0, "-"), (promoted, "--")):
            errors = []
            for k in ks:
                a, b = operands(k, positive)
                errors.append(100 * error(product(a, b, promoted=every), a.astype(np.float64) @ b.astype(np.float64)))
            ax.plot(ks, errors, color=colour, marker="o", linewidth=style.LINE, linestyle=dash)
            labels.append((errors[-1], words if not every else f"promoted every {every}", colour))
    ax.set(xscale="log", yscale="log", xlim=(ks[0] * 0.9, ks[-1] * 1.1), xticks=ks, ylim=(0.005, 30))
    style.plain_ticks(ax.xaxis, ks)
    style.plain_ticks(ax.yaxis, (0.01, 0.1, 1, 10))
    style.axis_titles(ax, "K", "error of the sum, % of the result")
    for height, words, colour in labels:
        ax.annotate(words, (ks[-1], height), (8, 0), textcoords="offset points", va="center", color=style.ink(colour))
    style.caption(fig, "Elements of N(0, 1) rounded to E4M3, or their absolute values; 32 × 32 results.", 0.8)
    return fig
