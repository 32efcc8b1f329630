"""Main loops of the Ampere ladder in machine code of an H200, as stripes: compiled here, so no GPU is needed."""

from __future__ import annotations

from tools.figures.machine_code import strips


def ampere_loops_04_05():
    """ldmatrix well ahead of the products in 04, and just in time in 05."""
    return strips("ampere", "sm_90a", "an H200", 4, 5)


def ampere_loops_06_10():
    """From a block of loads behind the barrier to a loop in which everything stands between products."""
    return strips("ampere", "sm_90a", "an H200", 6, 8, 9, 10)
