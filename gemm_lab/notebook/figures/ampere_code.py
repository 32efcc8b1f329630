"""Main loops of the Ampere ladder in machine code of an H200, as stripes: compiled here, so no GPU is needed."""

from __future__ import annotations

from gemm_lab.api import kernel
from gemm_lab.compiler.main_loop import main_loop
from gemm_lab.plots import code_strip

ARCH = "sm_90a"


def _strips(*numbers: int):
    rungs = [kernel(f"ampere/{number:02d}") for number in numbers]
    rows = [(made.name, main_loop(made.sass(arch=ARCH).lines).lines) for made in rungs]
    return code_strip(rows, "one turn of the main loop, machine code of an H200", counts=False)


def ampere_loops_04_05():
    """ldmatrix well ahead of the products in 04, and just in time in 05."""
    return _strips(4, 5)


def ampere_loops_06_10():
    """From a block of loads behind the barrier to a loop in which everything stands between products."""
    return _strips(6, 8, 9, 10)
