"""How far a correct kernel's result may be from the exact one, for N(0, 1) inputs.

Products of f16 or bf16 values are exact in f32, so the inputs contribute no error. (If a kernel first rounds f32 inputs
to such a type, the reference multiplies the rounded ones, because this rounding is part of what the kernel computes.)
Errors come from additions and from rounding the output. Model the partial sums as a random walk, |s_i| ~ √i, over
n = K/s additions, where s is the number of products in one addition (4 in the oldest tensor core, 1 in a scalar
kernel).

- An addition that rounds to nearest with unit roundoff u has an error of at most u·|s_i|, uniformly distributed, so
  u·|s_i|/√3 in root mean square. Independent errors add in squares: √(Σ u²·i·s/3) = u·K/√(6s), that is u·√(K/6s) of
  the output's √K.
- Tensor cores with an f32 accumulator truncate instead of rounding: u = 2⁻²³, and all errors have one sign. They add
  linearly in the worst case: Σ u·0.8·√(i·s) = 0.53·u·K·√K/s, that is 0.53·u·K/s of the output.
- The output is rounded once: u_out/√3, and once more for each of alpha·acc and beta·C in the same type.
"""

from __future__ import annotations

import math

from gemm_lab.catalog import Problem

UNIT_ROUNDOFF = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}
PRODUCTS_PER_ADDITION, SAFETY, ELEMENT_SIGMAS = 4, 2.0, 12.0


def _walk(problem: Problem, k: int) -> tuple[float, float]:
    """(random, one-sided) error of the accumulation, relative to the output's root mean square."""
    if problem.multiplied == "f32":
        return UNIT_ROUNDOFF["f32"] * math.sqrt(k / 6), 0.0
    walk = UNIT_ROUNDOFF[problem.dtype_acc] * math.sqrt(k / (6 * PRODUCTS_PER_ADDITION))
    drift = 0.53 * 2.0**-23 * k / PRODUCTS_PER_ADDITION if problem.dtype_acc == "f32" else 0.0
    return walk, drift


# Elements of D from which on the quotient of two norms is near its expected value: the norm of so many random numbers
# deviates by 1/√(2 · 64), 9 %, and the bound leaves a factor of two.
FEW = 64


def bound(problem: Problem, k: int, elements: int = FEW) -> float:
    """The largest ‖out − ref‖/‖ref‖ that passes: twice the error that the module's docstring derives.

    elements: of D. For fewer than `FEW` it is infinity: a quotient of few random numbers may have any size, so
    `element_limits` decides alone. For f16 accumulation it grows like √K (0.013 at K = 4096); for bf16 outputs it is
    about 0.0045 at any K.
    """
    if elements < FEW:
        return math.inf
    walk, drift = _walk(problem, k)
    rounding = UNIT_ROUNDOFF[problem.dtype_out] * math.sqrt((3 if problem.uses_c else 1) / 3)
    return SAFETY * (math.hypot(walk, rounding) + drift)


def element_limits(problem: Problem, k: int, alpha: float = 1.0) -> tuple[float, float]:
    """(absolute, relative): an element passes if |out − ref| ≤ absolute + relative·|ref|.

    The rounding of the output is a relative error of at most u_out. The error of the accumulation is absolute: twelve
    of its standard deviations, so that none of 2²⁸ correct elements fails and a single wrong one is still found.
    """
    walk, drift = _walk(problem, k)
    scale = abs(alpha) * math.sqrt(k)
    epilogue = 6 * UNIT_ROUNDOFF[problem.dtype_acc] if problem.uses_c else 0.0
    return scale * (ELEMENT_SIGMAS * walk + 6 * drift + epilogue), 1.01 * UNIT_ROUNDOFF[problem.dtype_out]
