"""The judge's launches with special values: which inputs, at which sizes, and whether the result is right to the bit.

In all of them D holds finite numbers before the launch, among them zeros. In the launches of `measure.check` it holds
NaN, so an answer whose result depends on what D held is wrong in one or the other. In each of them another array
crosses a multiple of 4 GiB, so an answer that computes addresses in 32 bits is wrong.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from gemm_lab.lab import Kernel
from gemm_lab.lab.emulating import launch, limits, smallest_size
from gemm_lab.measure.inputs import Inputs, make_inputs, reference, rounded
from gemm_lab.notebook.judges.unusual_values import (
    extreme_c,
    infinite_lines,
    spread,
    unusual_inputs,
    zeros_against_infinities,
)
from gpu_simulator import MemoryFault
from gpu_simulator.compiler import CompileError

Size = tuple[int, int, int]
OLD = 4  # D holds whole numbers from -OLD to OLD before a launch


def wrong_with_special_values(
    answer: Kernel, compiled: Any, sizes: Sequence[Size], seed: int, sms: int | None = None
) -> str:
    """A sentence if the compiled answer is wrong in one of the launches of `special_inputs`, else "".

    sms: see `Kernel.grid`. Raises the emulator's faults.
    """
    for number, (inputs, among) in enumerate(special_inputs(answer, sizes, seed)):
        crossing = number % len(answer.problem.arrays)
        if reason := wrong_with(answer, compiled, inputs, among, sms, crossing):
            return reason
    return ""


def wrong_elsewhere(answer: Kernel, judged: str, sizes: Sequence[Size], seed: int, sms: int | None = None) -> str:
    """A sentence if the answer is wrong when it is compiled for another architecture that the rung is for, else "".

    It is the newest one but `judged`. One launch at the smallest size is compared. "" too if there is no other.
    """
    others = [arch for arch in answer.spec.targets if arch != judged]
    if not others:
        return ""
    arch = max(others, key=lambda name: int(re.sub(r"\D", "", name)))
    inputs = make_inputs(answer.problem, *min(sizes, key=math.prod), "integers", seed)
    try:
        reason = wrong_with(answer, answer.compile(arch), inputs, "with small whole numbers", sms)
    except CompileError as error:
        reason = str(error)
    return reason and f"Compiled for {arch}, which the rung is for as well: {reason}"


def special_inputs(answer: Kernel, sizes: Sequence[Size], seed: int) -> Iterator[tuple[Inputs, str]]:
    """Yields (inputs, a phrase that describes them).

    Each size has infinities, NaN and large numbers once, and the smallest has tiny numbers as well. If there is a C,
    the smallest size has large C, alpha and beta. At two k tiles, zeros of each matrix meet
    infinities of the other one. If k may end within a tile, one launch has a row and a column of infinities.
    """
    problem, least, small = answer.problem, min(sizes, key=math.prod), smallest_size(answer)
    for size in dict.fromkeys(sizes):
        inputs = spread(unusual_inputs(problem, *size, seed), seed)
        yield inputs, f"with infinities, NaN, {_range(inputs)} among the values"
    plain = unusual_inputs(problem, *least, seed)
    inputs = spread(plain, seed, tiny=True)
    yield inputs, f"with infinities, NaN, {_range(inputs)} among the values"
    if problem.uses_c:
        for large, sign in product(("alpha", "beta"), (1, -1)):
            inputs = extreme_c(plain, seed, large, sign)
            yield inputs, "with infinities, NaN and the largest numbers in C"
    for operand in "ab":
        inputs = zeros_against_infinities(problem, *small, seed, operand)
        yield inputs, f"with zeros that meet infinities and NaN, and {operand.upper()} zero in the second half of k"
    step, block = answer.spec.size_multiples(answer.config)["k"], answer.config.get("BLOCK_K", 1)
    if step < block:
        k = block * answer.config.get("NUM_STAGES", 1) + step  # the last tile lies where an older one was
        inputs = infinite_lines(problem, *small[:2], k, seed)
        yield inputs, "with +Inf in all of one row of A and in all of one column of B, and positive numbers elsewhere"


def with_old_values(inputs: Inputs, seed: int) -> Inputs:
    """The inputs with whole numbers in D, of which some are zeros."""
    draw = np.random.default_rng([seed, 3])
    return replace(inputs, d=draw.integers(-OLD, OLD + 1, inputs.d.shape).astype(np.float32).astype(inputs.d.dtype))


def wrong_with(
    answer: Kernel,
    compiled: Any,
    inputs: Inputs,
    among: str,
    sms: int | None = None,
    crossing: int | None = None,
) -> str:
    """A sentence if a result of one launch with these inputs is not the exact one; "" if every element is right.

    crossing: see `gpu_simulator.launch`. A fault in a launch with it names the array.
    """
    m, n, k = inputs.m, inputs.n, inputs.k
    inputs = with_old_values(inputs, m + n + k)
    grid, options = answer.grid(m, n, k, sms), {"crossing": crossing, **limits(m, n, k)}
    try:
        arrays, _ = launch(compiled, grid, inputs.arguments(), answer.spec.cluster, **options)
    except MemoryFault as fault:
        if crossing is None:
            raise
        name = answer.problem.arrays[crossing].upper()
        return f"At {m} × {n} × {k}, with {name} in memory on both sides of a multiple of 4 GiB: {fault}"
    with np.errstate(invalid="ignore", over="ignore"):
        got = arrays[answer.problem.arrays.index("d")].astype(np.float64)
        exact = rounded(reference(inputs), answer.problem)
    wrong = ~((got == exact) | (np.isnan(got) & np.isnan(exact)))
    if not wrong.any():
        return ""
    row, column = (int(place[0]) for place in np.nonzero(wrong))
    scales = f", alpha = {inputs.alpha:g}, beta = {inputs.beta:g}" if inputs.c is not None else ""
    return (
        f"At {m} × {n} × {k}, {among}{scales}: D[{row}, {column}] is {got[row, column]:g}; it should be "
        f"{exact[row, column]:g}. {int(wrong.sum()):,} of {wrong.size:,} elements are wrong."
        + _kept(inputs, got, wrong)
    )


def _kept(inputs: Inputs, got: np.ndarray, wrong: np.ndarray) -> str:
    """A further sentence if every wrong element is what D held before the launch."""
    if not np.array_equal(got[wrong], inputs.d.astype(np.float64)[wrong]):
        return ""
    return " These elements still hold what D held before the launch."


def _range(inputs: Inputs) -> str:
    """A phrase that gives the range of the finite numbers of A and B."""
    with np.errstate(invalid="ignore"):
        sizes = np.concatenate([np.abs(array.astype(np.float64)).ravel() for array in (inputs.a, inputs.b)])
    sizes = sizes[np.isfinite(sizes)]
    return f"and numbers from {sizes.min():.3g} (subnormal) to {sizes.max():.3g}"
