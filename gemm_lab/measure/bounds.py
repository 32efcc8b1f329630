"""How far a correct kernel's result may be from the exact one, for N(0, 1) inputs.

Products of f16, bf16 or e4m3 values are exact in f32, so the inputs contribute no error. (If a kernel first rounds f32
inputs to such a type, the reference multiplies the rounded ones, because this rounding is part of what the kernel
computes. Scales belong to the inputs as well.) Errors come from additions and from rounding the output.

Rounding to nearest with unit roundoff u. A number in 2ᵉ … 2ᵉ⁺¹ has a uniform error of at most u·2ᵉ, in root mean square
u·2ᵉ/√3. In numbers of many sizes 2ᵉ/|x| is distributed like 2⁻ᶠ with f uniform in 0 … 1, whose mean square is
3/(8 ln 2). So the error is u/√(8 ln 2) = 0.425·u of the root mean square of the numbers. For N(0, σ) this holds within
0.3 % at every σ. The output is rounded once, and once more for each of alpha·acc and beta·C in the same type.

Additions. The partial sums are a random walk, |sᵢ| ~ √i. Over n = K/s additions of s products each (4 in the oldest
tensor core, 1 in a scalar kernel), independent errors add in squares: √(Σ (0.425·u)²·i·s) = 0.425·u·√(K/2s) of the
output's √K. A scalar kernel may also round its products, like one sum more, and all of them not to nearest: it may
have twice that. Two cases of tensor cores differ:

- With an f32 accumulator they truncate instead of rounding: u = 2⁻²³, and all errors have one sign. They add
  linearly in the worst case: Σ u·0.8·√(i·s) = 0.53·u·K·√K/s, that is 0.53·u·K/s of the output.
- Those of Ada and Hopper keep F = 13 fraction bits of a sum of 8-bit products: each product and the sum before it are
  cut off 13 bits below the exponent e of the largest. A cut is uniform in 0 … 2ᵉ⁻¹³, so its root mean square is twice
  that of a rounding to 13 fraction bits (u = 2⁻¹⁴), 0.425·2⁻¹³·|sᵢ|. Every product has one, which makes
  0.425·2⁻¹³·√(K/2) = 0.300·2⁻¹³·√K of the output.
  (Products that end before that bit lose nothing, so this is the upper end.) A kernel that promotes its sums after
  every P of K has errors of √P in place of √K.
"""

from __future__ import annotations

import math

from gemm_lab.catalog import Problem

UNIT_ROUNDOFF = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}
NEAREST = 1 / math.sqrt(8 * math.log(2))  # root mean square of a rounding error, in unit roundoffs
CUT_OF_FP8 = 2.0**-13
PRODUCTS_PER_ADDITION, SAFETY, ELEMENT_SIGMAS = 4, 2.0, 24.0


def _walk(problem: Problem, k: int) -> tuple[float, float]:
    """(random, one-sided) error of the accumulation, relative to the output's root mean square."""
    if problem.multiplied == "e4m3":
        return NEAREST * CUT_OF_FP8 * math.sqrt(min(problem.promotion or k, k) / 2), 0.0
    if problem.multiplied == "f32":
        return 2 * NEAREST * UNIT_ROUNDOFF["f32"] * math.sqrt(k / 2 + 1), 0.0
    walk = NEAREST * UNIT_ROUNDOFF[problem.dtype_acc] * math.sqrt(k / (2 * PRODUCTS_PER_ADDITION))
    drift = 0.53 * 2.0**-23 * k / PRODUCTS_PER_ADDITION if problem.dtype_acc == "f32" else 0.0
    return walk, drift


# Elements of D from which on the quotient of two norms is near its expected value: the norm of so many random numbers
# deviates by 1/√(2 · 64), 9 %, and the bound leaves 50 %.
FEW = 64


def bound(problem: Problem, k: int, elements: int = FEW) -> float:
    """The largest ‖out − ref‖/‖ref‖ that passes: what the module's docstring derives, and room for chance.

    The room is 5 % and four parts in √elements, where the quotient's standard deviation is about one part.
    elements: of D. For fewer than `FEW` the bound is infinity: a quotient of few random numbers may have any size, so
    `element_limits` decides alone. For f16 accumulation it grows like √K; for bf16 outputs with f32 accumulation it is
    about 0.0018 at any K.
    """
    if elements < FEW:
        return math.inf
    walk, drift = _walk(problem, k)
    rounding = NEAREST * UNIT_ROUNDOFF[problem.dtype_out] * math.sqrt(3 if problem.uses_c else 1)
    return (1.05 + 4 / math.sqrt(elements)) * math.hypot(walk, rounding) + SAFETY * drift


def element_limits(problem: Problem, k: int, alpha: float = 1.0) -> tuple[float, float]:
    """(absolute, relative): an element passes if |out − ref| ≤ absolute + relative·|ref|.

    The rounding of the output is a relative error of at most u_out. The error of the accumulation is absolute. An
    element whose sums are c times as large as others' has errors c times as large: it is a product of two normal
    numbers, c and z. Of 2²⁸ elements the largest has c² + z² = 2·ln 2²⁸ and c·z = 19.4, and more if c is larger on the
    way than in the end. So 24 times the root mean square of all elements is allowed. A single wrong element is still
    found.
    """
    walk, drift = _walk(problem, k)
    scale = abs(alpha) * math.sqrt(k) * (4.0 if problem.scaled else 1.0)  # each of two scales is at most 2
    epilogue = 6 * UNIT_ROUNDOFF[problem.dtype_acc] if problem.uses_c else 0.0
    return scale * (ELEMENT_SIGMAS * walk + 6 * drift + epilogue), 1.01 * UNIT_ROUNDOFF[problem.dtype_out]
