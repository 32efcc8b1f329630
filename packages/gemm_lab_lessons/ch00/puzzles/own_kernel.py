"""Puzzles of notebooks 00 and 02b: a whole kernel of one's own, launched by `lab.simulate` with a grid of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gemm_lab.lab.simulate import Simulation
from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import Missed, call
from gpu_simulator.argument_checks import shown

Function = Callable[..., Any]
SHAPES = ((32, 32, 16), (20, 28, 9), (1, 33, 5), (40, 8, 17), (130, 3, 2))  # m, n, k
CUBE, EDGE, ELEMENT_BYTES, SECTOR_BYTES = 64, 16, 4, 32
# Tiles of 16 × 16: each element of A is read 64 / 16 times, and so is each of B; each element of D is written once.
LEAST = (2 * CUBE**3 // EDGE + CUBE**2) * ELEMENT_BYTES // SECTOR_BYTES


def launched(answer: Function, m: int, n: int, k: int) -> Simulation:
    """One call of the learner's function. Raises `Missed` if its kernel does not run, or D is not the product."""
    random = np.random.default_rng(m + n + k)
    a, b = (random.integers(-4, 5, shape).astype(np.float32) for shape in ((m, k), (k, n)))
    wanted, before = a @ b, (a.copy(), b.copy())
    where = f"For A of {m} × {k} and B of {k} × {n}: "
    found = call(answer, a, b, most_lines=None)  # lab.simulate has a limit of its own
    if not isinstance(found, Simulation):
        raise Missed(f"The function returned {shown(found)}. Return what lab.simulate(…) returns, and not D.")
    if found.error is not None:
        raise Missed(f"{where}{found.error}")
    d = found.arrays[2] if len(found.arrays) == 3 else None
    if d is None or d.shape != (m, n) or d.dtype != np.float32:
        raise Missed(f"{where}args has to hold three arrays of float32 in this order: A, B, and D, {m} × {n}.")
    if not all(map(np.array_equal, (a, b), before)):
        raise Missed(f"{where}your kernel changed A or B; it may only write D.")
    if (wrong := np.argwhere(~(d == wanted))).size:
        row, col = wrong[0]
        raise Missed(
            f"{where}D[{row}, {col}] is {d[row, col]:g}; it should be {wanted[row, col]:g}. "
            f"{len(wrong):,} of {d.size:,} elements are wrong."
        )
    if not any(site.opcode.startswith("st.global") and site.requests for site in found.report.sites):
        raise Missed(f"{where}D is right, but your kernel did not write it.")
    if found.hazards:
        raise Missed(f"{where}D is right this time, and need not be the next time. {found.hazards[0]}")
    return found


@register(
    "00_own_kernel",
    title="A kernel of your own",
    task="Write the text of a kernel gemm, and complete on_a_gpu(A, B): it starts this kernel with lab.simulate, with "
    "a grid and a block of your choice, and returns what lab.simulate returns. A and B are float32 and have any size.",
    hint="int row = blockIdx.y * blockDim.y + threadIdx.y; and the same with x for the column. Threads outside of D "
    "return at once; the others add up one element as your innermost loop did, and store it. With "
    "block=(16, 16), the grid is (-(-n // 16), -(-m // 16)): n belongs to x.",
)
def own_kernel(answer: Function) -> Facts:
    for shape in SHAPES:
        launched(answer, *shape)
    return [("products tried", str(len(SHAPES)))]


@register(
    "02_own_kernel",
    title="A tiled kernel of your own",
    task="Write the text of a kernel gemm with tiles in shared memory, and complete on_a_gpu(A, B): it starts this "
    "kernel with lab.simulate and returns what that returns. In a product of 64 × 64 × 64 it may ask global memory for "
    "at most 1.5 times the sectors that tiles of 16 × 16 need.",
    hint="Two arrays __shared__ float tile_a[16][16], tile_b[16][16], and a loop over k in steps of 16. In each turn a "
    "thread carries one element of each tile, or a zero beyond the edge, then __syncthreads(), then 16 products, then "
    "__syncthreads() again. No thread may return before the last barrier, so test row < m && col < n at the store.",
)
def own_tiles(answer: Function) -> Facts:
    for shape in SHAPES:
        launched(answer, *shape)
    found = launched(answer, CUBE, CUBE, CUBE)
    sectors, most = found.report.totals.sectors, LEAST * 3 // 2
    if sectors > most:
        raise Missed(
            f"D is right, but for {CUBE} × {CUBE} × {CUBE} your kernel asked global memory for {sectors:,} sectors; "
            f"tiles of {EDGE} × {EDGE} need {LEAST:,}, and at most {most:,} are accepted. Each element of a tile has "
            "to be fetched once and used by all threads, and neighbouring threads have to fetch neighbouring elements."
        )
    return [
        ("products tried", str(len(SHAPES) + 1)),
        ("sectors", f"{sectors:,}"),
        (f"with tiles of {EDGE} × {EDGE}", f"{LEAST:,}"),
    ]
