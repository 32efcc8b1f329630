"""Inputs of a check, and the exact result that they should give.

*integers*: small whole numbers, chosen so that every partial sum of every kernel is exact in its accumulator; the
result is then known to the bit. *normal*: N(0, 1) numbers, which give errors of the size that real data give.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gemm_lab.catalog import Problem
from gpu_simulator.errors import ConfigError, SizeError
from gpu_simulator.hardware.number_types import dtype_of
from gpu_simulator.hardware.tensor_map import TensorMap

KINDS = ("integers", "normal")
LARGEST_LIMIT, SIGMAS = 4, 10
EXACT = {"f16": 2**11, "f32": 2**24}  # all whole numbers up to here are representable


def integer_limit(problem: Problem, k: int) -> int:
    """The largest L ≤ 4 such that sums of K products of values in -L … L stay exact in the accumulator.

    Sums are exact in the worst case if L²·K ≤ 2048 (f16) or 2²⁴ (f32). They are also accepted if ten standard
    deviations fit: a product of two uniform values has variance (L(L+1)/3)², so a partial sum exceeds 10·L(L+1)/3·√K
    with a probability below 10⁻²⁰. Raises `SizeError` if K is too large even for L = 1. Scaling by alpha = 2 and
    beta = -1 is exact, so the epilogue rounds at most once.
    """
    room = EXACT[problem.dtype_acc]
    for limit in range(LARGEST_LIMIT, 0, -1):
        if limit * limit * k <= room or SIGMAS * limit * (limit + 1) / 3 * math.sqrt(k) <= room:
            return limit
    raise SizeError(
        f"K = {k:,} is too large for an exact check with {problem.dtype_acc} accumulators; "
        f"use K up to {int((room * 3 / (2 * SIGMAS)) ** 2):,}, or normal inputs."
    )


def scales(problem: Problem) -> tuple[float, float]:
    """(alpha, beta) of a check: (2, -1) if C is used, so that a mistake in either is seen; else (1, 0)."""
    return (2.0, -1.0) if problem.uses_c else (1.0, 0.0)


@dataclass(frozen=True)
class Inputs:
    """A, B and C as they are stored in memory, and D filled with NaN. C is None if the problem has no C."""

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

    def arguments(self) -> list[Any]:
        """The kernel's arguments, in its parameter order."""
        return arguments(self.problem, vars(self))

    def wide(self) -> tuple[np.ndarray, np.ndarray]:
        """A (M, K) and B (K, N) in row order, rounded to the type that the kernel multiplies, as float32."""
        multiplied = dtype_of(self.problem.multiplied)
        a, b = (operand.astype(multiplied).astype(np.float32) for operand in (self.a, self.b))
        return (a if self.problem.layout_a == "row" else a.T), (b if self.problem.layout_b == "row" else b.T)


def arguments(problem: Problem, values: Mapping[str, Any]) -> list[Any]:
    """The kernel's arguments in the order of its parameters, taken from `values` by name.

    A parameter that the problem declares as a tensor map becomes a `TensorMap`.
    """
    return [
        TensorMap.of(values[token[1]], *token[2:]) if isinstance(token, tuple) else values[token]
        for token in problem.tokens
    ]


def make_inputs(problem: Problem, m: int, n: int, k: int, kind: str = "integers", seed: int = 0) -> Inputs:
    """Inputs of the kind "integers" or "normal"; the same seed gives the same inputs.

    Raises `ConfigError` for another kind, `SizeError` for a K that is too large for integers.
    """
    if kind not in KINDS:
        raise ConfigError(f"There are no inputs of kind {kind!r}; choose integers or normal.")
    rng = np.random.default_rng(seed)
    limit = integer_limit(problem, k) if kind == "integers" else 0

    def array(name: str) -> np.ndarray:
        shape = problem.shape(name, m, n, k)
        dtype = dtype_of(problem.dtype_in if name in "ab" else problem.dtype_out)
        if kind == "integers":
            return rng.integers(-limit, limit + 1, shape).astype(np.float32).astype(dtype)
        return rng.standard_normal(shape, dtype=np.float32).astype(dtype)

    alpha, beta = scales(problem)
    d = np.full((m, n), np.nan, np.float32).astype(dtype_of(problem.dtype_out))
    return Inputs(
        problem, m, n, k, kind, array("a"), array("b"), array("c") if problem.uses_c else None, d, alpha, beta
    )


def reference(inputs: Inputs) -> np.ndarray:
    """alpha·A·B + beta·C as float64 (M, N), not rounded to the output type; A and B are rounded as the kernel does it.

    Integers give an exact result, because every partial sum is a whole number below 2²⁴. Normal inputs are multiplied
    in float64 up to 2³⁰ multiply-adds, and in float32 above that.
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
