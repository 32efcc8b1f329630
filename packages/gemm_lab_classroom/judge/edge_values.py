"""Inputs in which each element of the result is one product: near the largest numbers, and with the answer's constants.

Such an element is exact whatever the order of the sum, so a kernel that scales its operands up and down on the way, or
changes one special value, is found.
"""

from __future__ import annotations

import re
from dataclasses import replace

import ml_dtypes
import numpy as np

from gemm_lab.measure.inputs import Inputs, make_inputs
from gemm_lab.problem import Problem
from gemm_lab_classroom.judge.unusual_values import along_k, full_mantissas
from gpu_simulator.hardware.number_types import dtype_of

TOP = 1.5  # times a power of two, the largest that all types on the way can hold
SCALE = 2.0**30  # an alpha or beta that large, for sums or a C of a few times its inverse
_NUMBER = re.compile(r"(?<![\w%.$])(-?(?:0[xX][0-9a-fA-F]+|\d+)|0[fF][0-9a-fA-F]{8})(?![\w.])")
MOST_NAMED = 4096


def _one_each(
    problem: Problem, m: int, n: int, k: int, seed: int, operand: str
) -> tuple[Inputs, np.ndarray, np.ndarray]:
    """(inputs, rows of the operand (lines, k), lines of the other), all zero but one 1 in each line of the other."""
    draw, made = np.random.default_rng([seed, 9, operand == "b"]), make_inputs(problem, m, n, k, "integers", seed)
    a, b = np.zeros_like(made.a), np.zeros_like(made.b)
    lines = dict(zip("ab", along_k(problem, a, b), strict=True))
    other = lines["b" if operand == "a" else "a"]
    other[np.arange(len(other)), draw.integers(0, k, len(other))] = 1
    return replace(made, a=a, b=b), lines[operand], other


def near_the_top(problem: Problem, m: int, n: int, k: int, seed: int, operand: str) -> Inputs:
    """A·B has elements up to ±1.5 · 2ᵉ, the most that the accumulator, or D without its alpha, can hold; alpha is 0.5.

    Half of the elements of `operand` are the largest; the others have random bits in all of their significand.
    """
    made, rows, other = _one_each(problem, m, n, k, seed, operand)
    draw, scaled = np.random.default_rng([seed, 10]), made.c is not None
    one = ml_dtypes.finfo(dtype_of(problem.multiplied)).maxexp - 1
    result = ml_dtypes.finfo(dtype_of(problem.dtype_out)).maxexp - 1 + scaled
    high = min(2 * one, ml_dtypes.finfo(dtype_of(problem.dtype_acc)).maxexp - 1, result)
    numbers = TOP * full_mantissas(draw, rows.shape)
    largest = draw.random(rows.shape) < 0.5
    rows[:] = np.where(largest, np.copysign(TOP, numbers), numbers) * 2.0 ** (high - high // 2)
    other[:] = np.where(other != 0, 2.0 ** (high // 2), 0).astype(other.dtype)
    return replace(made, alpha=0.5, beta=0.0) if scaled else made


def large_scale(problem: Problem, m: int, n: int, k: int, seed: int, large: str) -> Inputs:
    """alpha or beta is 2³⁰, and A·B or C, which it multiplies, a few times 2⁻²⁴; the other term is 0."""
    made, rows, other = _one_each(problem, m, n, k, seed, "a")
    draw = np.random.default_rng([seed, 11, large == "beta"])
    if large == "alpha":
        rows[:] = draw.integers(-8, 9, rows.shape) * 2.0**-12
        other[:] = np.where(other != 0, 2.0**-12, 0).astype(other.dtype)
        return replace(made, alpha=SCALE, beta=0.0, c=np.zeros_like(made.c))
    c = (draw.integers(-8, 9, made.c.shape) * 2.0**-24).astype(made.c.dtype)
    return replace(made, alpha=0.0, beta=SCALE, c=c)


def named_numbers(ptx: str, own: str) -> np.ndarray:
    """The 32-bit patterns of the constants in the PTX of an answer that the rung's own PTX does not have."""

    def of(text: str) -> set[int]:
        body = re.sub(r"//[^\n]*|^\s*\.(?:loc|file)\b[^\n]*", "", text, flags=re.M)
        return {int(word[2:], 16) if word[:2] in ("0f", "0F") else int(word, 0) for word in _words(body)}

    return np.array(sorted(number & 0xFFFFFFFF for number in of(ptx) - of(own))[:MOST_NAMED], np.uint32)


def _words(body: str) -> list[str]:
    return [word for word in _NUMBER.findall(body) if not re.fullmatch(r"-?0\d+", word)]


def with_named_numbers(
    problem: Problem, m: int, n: int, k: int, seed: int, operand: str, numbers: np.ndarray
) -> Inputs | None:
    """One operand holds the constants of an answer as values, with their neighbours and negatives; None if none fits.

    numbers: 32-bit patterns; for 16-bit types both halves are taken, for whole numbers also their values.
    """
    made, rows, _ = _one_each(problem, m, n, k, seed, operand)
    width, draw = rows.dtype.itemsize, np.random.default_rng([seed, 12, operand == "b"])
    patterns = numbers if width == 4 else np.concatenate([numbers & 0xFFFF, numbers >> 16])
    sign = np.uint32(1 << (8 * width - 1))
    near = np.concatenate([patterns, patterns + np.uint32(1), patterns - np.uint32(1)])
    near = np.concatenate([near, near ^ sign, near ^ np.uint32(2 * int(sign) - 1)]).astype(f"u{width}")
    with np.errstate(invalid="ignore", over="ignore"):
        whole = numbers.view(np.int32).astype(np.float32).astype(rows.dtype)
        values = np.concatenate([near.view(rows.dtype), whole])
        wide = values.astype(np.float32)
        rounded = wide.astype(dtype_of(problem.multiplied)).astype(np.float32)
        held = rounded.astype(dtype_of(problem.dtype_acc)).astype(dtype_of(problem.dtype_out)).astype(np.float32)
    values = values[np.isfinite(wide) & np.isfinite(rounded) & np.isfinite(held)]
    if not len(values):
        return None
    rows[:] = values[draw.integers(0, len(values), rows.shape)]
    return replace(made, alpha=1.0, beta=0.0) if made.c is not None else made
