"""Main loops in machine code, as stripes, and those of the T4 ladder: compiled here, so no GPU is needed."""

from __future__ import annotations

from gemm_lab.lab import kernel
from gemm_lab.plots import code_strip
from gpu_simulator.compiler.main_loop import main_loop


def strips(ladder: str, arch: str, machine: str, *numbers: int):
    """One stripe a rung, `numbers` of `ladder`; machine: "a T4", for the caption."""
    rungs = [kernel(f"{ladder}/{number:02d}") for number in numbers]
    rows = [(made.name, main_loop(made.sass(arch=arch).lines).lines) for made in rungs]
    return code_strip(rows, f"one turn of the main loop, machine code of {machine}", counts=False)


def main_loops_03_04():
    """Where the loads stand in 03, and what stands before them in 04."""
    return strips("t4", "sm_75", "a T4", 3, 4)


def main_loops_04_08():
    """From two barriers with a pause behind each to one barrier in the midst of multiplications."""
    return strips("t4", "sm_75", "a T4", 4, 5, 6, 7, 8)
