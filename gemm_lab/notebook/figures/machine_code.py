"""The main loops of the T4 ladder in machine code, as stripes: compiled here, counted nowhere, so no GPU is needed."""

from __future__ import annotations

from gemm_lab.api import kernel
from gemm_lab.compiler.main_loop import main_loop
from gemm_lab.plots import code_strip

ARCH = "sm_75"


def _strips(*numbers: int):
    rungs = [kernel(f"t4/{number:02d}") for number in numbers]
    rows = [(made.name, main_loop(made.sass(arch=ARCH).lines).lines) for made in rungs]
    return code_strip(rows, "one turn of the main loop, machine code of a T4", counts=False)


def main_loops_03_04():
    """Where the loads stand in 03, and what stands before them in 04."""
    return _strips(3, 4)


def main_loops_04_08():
    """From two barriers with a pause behind each to one barrier in the midst of multiplications."""
    return _strips(4, 5, 6, 7, 8)
