"""Main loops as stripes of machine code, and the pictures of the T4 ladder. Compiling needs no GPU."""

from __future__ import annotations

from gemm_lab.lab import kernel
from gemm_results.plots import code_strip
from gpu_timing.machine_code.main_loop import main_loop


def strips(ladder: str, arch: str, machine: str, *numbers: int):
    """A Figure with one strip for each of the rungs `numbers` of `ladder`. machine: such as "a T4", for the caption."""
    rungs = [kernel(f"{ladder}/{number:02d}") for number in numbers]
    rows = [(made.name, main_loop(made.sass(arch=arch).lines).lines) for made in rungs]
    return code_strip(rows, f"one turn of the main loop, machine code of {machine}", counts=False)


def main_loops_03_04():
    """The place of the loads in rungs 03 and 04."""
    return strips("t4", "sm_75", "a T4", 3, 4)


def main_loops_04_08():
    """From two barriers, each with a pause after it, to one barrier between multiplications."""
    return strips("t4", "sm_75", "a T4", 4, 5, 6, 7, 8)
