"""Main loops of the Ampere ladder as stripes of machine code for an H200. Compiling needs no GPU."""

from __future__ import annotations

from tools.figures.machine_code import strips


def ampere_loops_04_05():
    """In rung 04, ldmatrix comes well before the products that need it; in 05, just before them."""
    return strips("ampere", "sm_90a", "an H200", 4, 5)


def ampere_loops_06_10():
    """In rung 06, all loads follow the barrier; in 10, all other instructions are between products."""
    return strips("ampere", "sm_90a", "an H200", 6, 8, 9, 10)
