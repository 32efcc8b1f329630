"""Inputs of a check, and the exact result that they should give.

*integers*: small whole numbers, chosen so that every partial sum of every kernel is exact in its accumulator; the
result is then known to the bit. *cancelling*: such numbers again, and beside them a few large products that cancel in
the end, so that the partial sums need more bits than a narrower accumulator has. Such a one loses what
is added meanwhile. *normal*: N(0, 1) numbers, which give errors of the size that real data give.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemm_lab.catalog import SCALE_BLOCK, SCALES, Problem
from gpu_simulator.errors import ConfigError, SizeError
from gpu_simulator.hardware.number_types import dtype_of
from gpu_simulator.hardware.tensor_map import TensorMap

KINDS = ("cancelling", "integers", "normal")
LARGEST_LIMIT, SIGMAS = 4, 10
# The accumulator holds all whole numbers up to 2 to this power. Hopper's and Ada's tensor cores keep 13 fraction bits
# of a sum of 8-bit products, though they return it as f32.
EXACT_BITS = {"f16": 11, "f32": 24}
EXACT_BITS_OF_FP8 = 14


def exact_bits(problem: Problem) -> int:
    """b such that the accumulator of the whole sum holds all whole numbers up to 2ᵇ."""
    kept_short = problem.multiplied == "e4m3" and not problem.promotion
    return min(EXACT_BITS[problem.dtype_acc], EXACT_BITS_OF_FP8 if kept_short else 24)


def integer_limit(problem: Problem, k: int, taken: int = 0) -> int:
    """The largest L ≤ 4 such that sums of K products of values in -L … L stay exact in the accumulator.

    Sums are exact in the worst case if L²·K ≤ 2048 (f16), 2¹⁴ (e4m3 without promotion) or 2²⁴ (f32), less what is
    `taken` by others. They are also accepted if ten standard deviations fit: a product of two uniform values has
    variance (L(L+1)/3)², so a partial sum exceeds 10·L(L+1)/3·√K with a probability below 10⁻²⁰. Raises `SizeError` if
    K is too large even for L = 1. Scaling by alpha = 2 and beta = -1 is exact, so the epilogue rounds at most once.
    """
    room = 2 ** exact_bits(problem) - taken
    for limit in range(LARGEST_LIMIT, 0, -1):
        if limit * limit * k <= room or SIGMAS * limit * (limit + 1) / 3 * math.sqrt(k) <= room:
            return limit
    raise SizeError(
        f"K = {k:,} is too large for an exact check with {problem.dtype_acc} accumulators; "
        f"use K up to {int((room * 3 / (2 * SIGMAS)) ** 2):,}, or normal inputs."
    )


def large_products(problem: Problem, k: int) -> tuple[int, int]:
    """(e, count): cancelling inputs have `count` products 2ᵉ at the start of K, and as many -2ᵉ at its end.

    An accumulator of f16 or of 13 fraction bits is half filled by one product. For f32 it is 2¹⁵, which those two can
    hold, but not together with ones. A promoted sum gets one product in each of two parts of K, which half fills the
    sum of a part, so that both together need the wider sum. If K has no room for them, there are none.
    """
    if problem.promotion:
        return EXACT_BITS_OF_FP8 - 1, 2 if k >= 4 * problem.promotion else 0
    return min(exact_bits(problem) - 1, 15), int(k > 1)


def scales(problem: Problem) -> tuple[float, float]:
    """(alpha, beta) of a check: (2, -1) if C is used, so that a mistake in either is seen; else (1, 0)."""
    return (2.0, -1.0) if problem.uses_c else (1.0, 0.0)


@dataclass(frozen=True)
class Inputs:
    """A, B and C as they are stored in memory, and D filled with NaN.

    C is None if the problem has no C, and so are scale_a and scale_b if it has no scales.
    """

    problem: Problem
    m: int
    n: int
    k: int
    kind: str
    a: np.ndarray
    b: np.ndarray
    c: np.ndarray | None
    d: np.ndarray
    alpha: float
    beta: float
    scale_a: np.ndarray | None = None
    scale_b: np.ndarray | None = None

    def arguments(self) -> list[Any]:
        """The kernel's arguments, in its parameter order."""
        return arguments(self.problem, vars(self))

    def wide(self) -> tuple[np.ndarray, np.ndarray]:
        """A (M, K) and B (K, N) in row order, rounded to the type that the kernel multiplies, as float32.

        If the problem has scales, A and B are multiplied by them.
        """
        multiplied = dtype_of(self.problem.multiplied)
        a, b = (operand.astype(multiplied).astype(np.float32) for operand in (self.a, self.b))
        a, b = (a if self.problem.layout_a == "row" else a.T), (b if self.problem.layout_b == "row" else b.T)
        if self.scale_a is not None:
            a = a * _spread(self.scale_a, 0)[: self.k].T
            b = b * _spread(_spread(self.scale_b, 0), 1)[: self.n, : self.k].T
        return a, b


def _spread(factors: np.ndarray, axis: int) -> np.ndarray:
    """Scales with each factor repeated for the values of its block."""
    return np.repeat(factors, SCALE_BLOCK, axis)


def arguments(problem: Problem, values: Mapping[str, Any]) -> list[Any]:
    """The kernel's arguments in the order of its parameters, taken from `values` by name.

    A parameter that the problem declares as a tensor map becomes a `TensorMap`.
    """
    return [
        TensorMap.of(values[token[1]], *token[2:]) if isinstance(token, tuple) else values[token]
        for token in problem.tokens
    ]


def make_inputs(problem: Problem, m: int, n: int, k: int, kind: str = "integers", seed: int = 0) -> Inputs:
    """Inputs of the kind "integers", "cancelling" or "normal"; the same seed gives the same inputs.

    Raises `ConfigError` for another kind, `SizeError` for a K that is too large for integers.
    """
    if kind not in KINDS:
        raise ConfigError(f"There are no inputs of kind {kind!r}; choose cancelling, integers or normal.")
    rng = np.random.default_rng(seed)
    exponent, count = large_products(problem, k) if kind == "cancelling" else (0, 0)
    limit = 0 if kind == "normal" else integer_limit(problem, k, count * 2**exponent)

    def array(name: str) -> np.ndarray:
        shape, dtype = problem.shape(name, m, n, k), dtype_of(problem.dtype(name))
        if kind == "normal":
            return rng.standard_normal(shape, dtype=np.float32).astype(dtype)
        return rng.integers(-limit, limit + 1, shape).astype(np.float32).astype(dtype)

    def factors(name: str) -> np.ndarray:
        shape = problem.shape(name, m, n, k)
        if kind == "normal":
            return np.exp2(rng.uniform(-1, 1, shape)).astype(np.float32)
        # Neighbours differ, also where there are few blocks; what cancels has the same factor.
        depth = np.arange(-(-k // SCALE_BLOCK))
        depth = np.minimum(depth, depth[::-1]) if kind == "cancelling" else depth
        turns = (
            depth[:, None] + rng.integers(3, size=m) if name == "scale_a" else np.arange(shape[0])[:, None] + 2 * depth
        )
        return np.exp2(turns % 3 - 1).astype(np.float32)

    alpha, beta = scales(problem)
    d = np.full((m, n), np.nan, np.float32).astype(dtype_of(problem.dtype_out))
    made = Inputs(
        problem, m, n, k, kind, array("a"), array("b"), array("c") if problem.uses_c else None, d, alpha, beta,
        *(map(factors, SCALES) if problem.scaled else ()),
    )  # fmt: skip
    a = made.a if problem.layout_a == "row" else made.a.T
    b = made.b if problem.layout_b == "row" else made.b.T
    for number in range(count):
        at = number * problem.promotion
        a[:, [at, k - 1 - at]] = 2.0 ** (exponent - exponent // 2)
        b[at], b[k - 1 - at] = 2.0 ** (exponent // 2), -(2.0 ** (exponent // 2))
    return made


def reference(inputs: Inputs) -> np.ndarray:
    """alpha·A·B + beta·C as float64 (M, N), not rounded to the output type; A and B are rounded as the kernel does it.

    Whole numbers give an exact result, because every partial sum is a whole number below 2²⁴ (with scales, a quarter
    of one below 2²²). Normal inputs are multiplied in float64 up to 2³⁰ multiply-adds, and in float32 above that.
    """
    a, b = inputs.wide()
    if inputs.kind == "normal" and inputs.m * inputs.n * inputs.k <= 2**30:
        a, b = a.astype(np.float64), b.astype(np.float64)
    result = inputs.alpha * (a @ b).astype(np.float64)
    if inputs.c is not None:
        result += inputs.beta * inputs.c.astype(np.float64)
    return result


def rounded(exact: np.ndarray, problem: Problem) -> np.ndarray:
    """An exact result (float64) rounded to float32 and then to the output type, as an epilogue does; as float64."""
    return exact.astype(np.float32).astype(dtype_of(problem.dtype_out)).astype(np.float64)
