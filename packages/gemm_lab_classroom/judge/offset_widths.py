"""Refuses answers that compute an offset into a matrix in 32 bits, which is too few for large matrices.

Matrices of 2³¹ elements and more are too large for the simulator, so the growth of an offset is measured at three small
sizes instead: an offset that grows with the product of two of m, n and k does not fit 32 bits at large sizes.
"""

from __future__ import annotations

import math
from typing import Any

from gemm_lab.lab import Kernel
from gemm_lab.lab.on_simulator import limits
from gemm_lab.measure.inputs import make_inputs
from gemm_lab.notebook.judges.run_faults import FAULTS
from gemm_lab.problem import LONGEST_EDGE
from gemm_lab_classroom.judge.widening import Widening, widened

EDGE = 128  # of the smallest of the three products; the others have two and three times this edge
MANY = 4096  # multiprocessors: each block of a persistent kernel has one tile, and the last block has the last one
# A number that grows like the product of two edges is 4 and 9 times as large at twice and three times the edge. One
# that grows like an edge is at most 2 and 3 times as large.
TWICE, THRICE = 3.5, 7.5


def narrow_offset(answer: Kernel, compiled: Any) -> str:
    """A sentence about the first offset that 32 bits do not hold at the largest sizes; "" if there is none."""
    edge = math.lcm(EDGE, *answer.spec.size_multiples(answer.config).values())
    try:
        small, middle, large = (_offsets(answer, compiled, times * edge) for times in (1, 2, 3))
    except FAULTS as fault:
        return f"At a size of up to {3 * edge} × {3 * edge} × {3 * edge}: {fault}"
    for place, value in sorted(large.items()):
        before, between = small.get(place, 0), middle.get(place, 0)
        reached = value * (LONGEST_EDGE // (3 * edge)) ** 2
        if before and between >= TWICE * before and value >= THRICE * before and reached >= _end(place):
            return _said(place, 3 * edge, value, reached)
    return ""


def _offsets(answer: Kernel, compiled: Any, edge: int) -> dict[Widening, int]:
    """The largest number that each widening of the last block has taken, in a product of three equal edges."""
    grid = answer.grid(edge, edge, edge, MANY)
    args = make_inputs(answer.problem, edge, edge, edge, "integers", 0).arguments()
    block, last = (compiled.threads, 1, 1), math.prod(grid) - 1
    return widened(compiled, grid, block, args, last, answer.spec.cluster, **limits(edge, edge, edge))


def _end(place: Widening) -> int:
    """The first whole number that the 32 bits do not hold."""
    return 2**31 if place.signed else 2**32


def _said(place: Widening, edge: int, value: int, reached: int) -> str:
    where = f"Line {place.line}" if place.file == "cell" else f"{place.file}, line {place.line}"
    return (
        f"{where}: an offset into a matrix is computed in 32 bits and extended to 64 afterwards. It grows with the "
        f"product of two of M, N and K: it is {value:,} at {edge} × {edge} × {edge} and would be about {reached:,} at "
        f"{LONGEST_EDGE:,} × {LONGEST_EDGE:,} × {LONGEST_EDGE:,}; the largest number of 32 bits is here "
        f"{_end(place) - 1:,}. Compute it in 64 bits, as with size_t(row) * N."
    )
