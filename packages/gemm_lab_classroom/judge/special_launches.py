"""The judge's launches with special values: which inputs, at which sizes, and whether the result is right to the bit.

In all of them D holds finite numbers before the launch, among them zeros. In the launches of `measure.check` it holds
NaN, so an answer whose result depends on what D held is wrong in one or the other. They also differ from those launches
in what a GPU does not promise, and hazards are looked for in them: see `Circumstances`.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any

import numpy as np

from gemm_lab.lab import Kernel
from gemm_lab.lab.on_simulator import launch, limits, smallest_size
from gemm_lab.measure.check import told_apart
from gemm_lab.measure.inputs import Inputs, reference, rounded
from gemm_lab.notebook.judges.run_faults import EARLY_USE, FAULTS
from gemm_lab_classroom.judge.edge_values import large_scale, named_numbers, near_the_top, with_named_numbers
from gemm_lab_classroom.judge.unusual_values import (
    extreme_c,
    infinite_lines,
    scales_far_apart,
    spread,
    unusual_inputs,
    without_a_term,
    zeros_against_infinities,
)
from gpu_simulator import MemoryFault, Placement, widest_first

Size = tuple[int, int, int]
# Columns at which the first allocation of tensor memory begins in a launch: multiples of 32, but not of 64.
BASES = (32, 96, 160, 224)
SHARED_BASE = 1024  # the address at which shared memory begins in a launch, as on GPUs from sm_80 on
SAYS_BASE = (
    f" Shared memory begins at address {SHARED_BASE:,} in this launch, as it does on GPUs from sm_80 on, and its "
    "arrays lie in the opposite order; with 0 and in the usual order the answer is right: take the addresses from the "
    "arrays."
)
_ASYNCHRONOUS = re.compile(r"\b(?:cp\.async|wgmma\.mma_async|tcgen05\.mma)\b")
OLD = 4  # D holds whole numbers from -OLD to OLD before a launch


def wrong_with_special_values(
    answer: Kernel, compiled: Any, sizes: Sequence[Size], seed: int, sms: int | None = None
) -> str:
    """A sentence if the compiled answer is wrong in one of the launches of `special_inputs`, else "".

    sms: see `Kernel.grid`.
    """
    launches = chain(special_inputs(answer, sizes, seed), inputs_of_edges(answer, compiled, seed))
    for number, (inputs, among) in enumerate(launches):
        around = circumstances(answer, compiled, number, sizes, seed, sms)
        reason = wrong_with(answer, compiled, inputs, among, around)
        if reason:
            at_zero = replace(around, placement=replace(around.placement, shared_memory_base=0))
            by_address = not wrong_with(answer, compiled, inputs, among, at_zero)
            return reason + (SAYS_BASE if by_address else "")
    return ""


@dataclass(frozen=True)
class Circumstances:
    """What an answer must not rely on in one launch.

    sms: multiprocessors, see `Kernel.grid`.   timing, placement: see `gpu_simulator.launch`.
    hazards: whether hazards are looked for.
    """

    sms: int | None = None
    timing: str = "early"
    placement: Placement = Placement()
    hazards: bool = False

    def options(self) -> dict[str, Any]:
        """Keyword arguments of `gpu_simulator.launch`."""
        observers = ("hazards",) if self.hazards else ()
        return {"timing": self.timing, "placement": self.placement, "observers": observers}


def circumstances(
    answer: Kernel, compiled: Any, number: int, sizes: Sequence[Size], seed: int, sms: int | None
) -> Circumstances:
    """Those of the launch `number` of `special_inputs`.

    Hazards are looked for at every size; at the last one, asynchronous copies and products are late. In a cluster the
    copies of some blocks are late in the other launches. A persistent kernel gets other numbers of multiprocessors than
    `sms`, tensor memory is not allocated from column 0 on, and shared memory does not begin at address 0, with its
    arrays in the opposite order.
    In every other launch the arrays lie in memory from the last one to the first.
    """
    draw, sizes, blocks = random.Random(seed), list(dict.fromkeys(sizes)), math.prod(answer.spec.cluster)
    base = draw.choice(BASES) if "tcgen05.alloc" in compiled.ptx else 0
    if sms is not None:
        others = [blocks * count for count in range(1, 2 * (sms // blocks) + 2) if count != sms // blocks]
        draw.shuffle(others)
        sms = others[number % len(others)]
    at_a_size, timing = number < len(sizes), "early"
    if number == len(sizes) - 1 and _ASYNCHRONOUS.search(compiled.ptx):
        timing = "late"
    elif not at_a_size and blocks > 1:
        timing = "staggered"
    return Circumstances(
        sms=sms,
        timing=timing,
        placement=Placement(number % len(answer.problem.arrays), number % 2 == 1, SHARED_BASE, base),
        hazards=at_a_size or timing != "early",
    )


def special_inputs(answer: Kernel, sizes: Sequence[Size], seed: int) -> Iterator[tuple[Inputs, str]]:
    """Yields (inputs, a phrase that describes them).

    Each size has infinities, NaN and large numbers once, and the smallest has tiny numbers as well. If there is a C,
    the smallest size has large C, alpha and beta, and alpha and beta are once 0 and once much larger than the other.
    At two k tiles, zeros of each matrix meet infinities of the other one. If k may end within a tile, one launch has a
    row and a column of infinities.
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
        for scale in ("alpha", "beta"):
            yield without_a_term(problem, *small, seed, scale), "with one product for each element"
            yield scales_far_apart(problem, *small, seed, scale), "with whole numbers"
    for operand in "ab":
        inputs = zeros_against_infinities(problem, *small, seed, operand)
        yield inputs, f"with zeros that meet infinities and NaN, and {operand.upper()} zero in the second half of k"
    step, block = answer.spec.size_multiples(answer.config)["k"], answer.config.get("BLOCK_K", 1)
    if step < block:
        k = block * answer.config.get("NUM_STAGES", 1) + step  # the last tile lies where an older one was
        inputs = infinite_lines(problem, *small[:2], k, seed)
        yield inputs, "with +Inf in all of one row of A and in all of one column of B, and positive numbers elsewhere"


def inputs_of_edges(answer: Kernel, compiled: Any, seed: int) -> Iterator[tuple[Inputs, str]]:
    """Yields (inputs, a phrase that describes them) in which each element of D is one product."""
    problem, small = answer.problem, smallest_size(answer)
    for operand in "ab":
        inputs = near_the_top(problem, *small, seed, operand)
        yield inputs, "with one product for each element, near the largest number"
    if problem.uses_c:
        for large in ("alpha", "beta"):
            yield large_scale(problem, *small, seed, large), "with tiny numbers and a large scale"
    numbers = named_numbers(compiled.ptx, answer.unedited().compile_as_taught().ptx)
    for operand in "ab" if len(numbers) else "":
        inputs = with_named_numbers(problem, *small, seed, operand, numbers)
        if inputs is not None:
            yield inputs, f"with the constants of this code among the values of {operand.upper()}"


def with_old_values(inputs: Inputs, seed: int) -> Inputs:
    """The inputs with whole numbers in D, of which some are zeros."""
    draw = np.random.default_rng([seed, 3])
    return replace(inputs, d=draw.integers(-OLD, OLD + 1, inputs.d.shape).astype(np.float32).astype(inputs.d.dtype))


def wrong_with(answer: Kernel, compiled: Any, inputs: Inputs, among: str, around: Circumstances) -> str:
    """A sentence if one launch with these inputs gives a wrong element, a fault or a hazard, else ""."""
    m, n, k = inputs.m, inputs.n, inputs.k
    where = f"At {m} × {n} × {k}"
    inputs = with_old_values(inputs, m + n + k)
    try:
        grid, options = answer.grid(m, n, k, around.sms), {**around.options(), **limits(m, n, k)}
        arrays, report = launch(compiled, grid, inputs.arguments(), answer.spec.cluster, **options)
    except MemoryFault as fault:
        if around.placement.crossing is None:
            return f"{where}{_said(around)}: {fault}"
        name = answer.problem.arrays[around.placement.crossing].upper()
        return f"{where}, with {name} in memory on both sides of a multiple of 4 GiB: {fault}"
    except FAULTS as fault:
        return f"{where}{_said(around)}: {fault}"
    with np.errstate(invalid="ignore", over="ignore"):
        got = arrays[answer.problem.arrays.index("d")].astype(np.float64)
        exact = rounded(reference(inputs), answer.problem)
    wrong = ~((got == exact) | (np.isnan(got) & np.isnan(exact)))
    hazard = _first_hazard(report.hazards)
    if not wrong.any():
        return hazard and f"The result is right on the simulator, by luck. {where}{_said(around)}:{hazard}"
    row, column = (int(place[0]) for place in np.nonzero(wrong))
    scales = f", alpha = {inputs.alpha:g}, beta = {inputs.beta:g}" if inputs.c is not None else ""
    found, wanted = told_apart(float(got[row, column]), float(exact[row, column]))
    return (
        f"{where}, {among}{scales}{_said(around)}: D[{row}, {column}] is {found}; it should be "
        f"{wanted}. {int(wrong.sum()):,} of {wrong.size:,} elements are wrong." + _kept(inputs, got, wrong) + hazard
    )


def _first_hazard(found: list) -> str:
    """A further sentence about the first hazard of a launch that counts here; "" if there is none.

    Reads of shared memory that nothing has written do not count: with fewer k tiles than stages, a kernel may load
    fragments that it does not use. If it uses them, its result is wrong, because that memory holds NaN.
    """
    counted = (hazard for hazard in widest_first(found) if hazard.kind not in ("uninitialised read", EARLY_USE))
    return next((f" A hazard: {hazard}" for hazard in counted), "")


def _said(around: Circumstances) -> str:
    """Clauses that name those circumstances that a learner would not expect; "" if there are none."""
    said = ""
    if around.sms is not None:
        said += f", on {around.sms} multiprocessor{'s' * (around.sms != 1)}"
    if around.placement.tensor_memory_base:
        said += (
            f", with tensor memory allocated from column {around.placement.tensor_memory_base} on if that is possible"
        )
    if around.timing == "late":
        said += ", with copies that come as late as they may"
    elif around.timing == "staggered":
        said += ", with copies of the second block of a cluster that come later than those of the first"
    return said


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
