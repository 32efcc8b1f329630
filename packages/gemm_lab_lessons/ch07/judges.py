"""The right numbers of the short exercise of notebook 07."""

from __future__ import annotations

from gemm_lab.lab import kernel
from gemm_lab_lessons.shared.numbers import Right, by_numbers

BF16 = 2  # bytes


def in_flight() -> Right:
    """The bytes that a multiprocessor of an H200 has on their way during the products of ampere/06 and ampere/07."""
    c, found = kernel("ampere/07_multistage").config, {}
    stage = (c["BLOCK_M"] + c["BLOCK_N"]) * c["BLOCK_K"] * BF16
    for name, rung, tiles in (("of_06", "ampere/06", 1), ("of_07", "ampere/07", c["NUM_STAGES"] - 1)):
        made = kernel(rung)
        found[name] = tiles * stage * made.occupancy(made.compile("sm_90a"), on="h200").blocks
    return found


JUDGES = {"copies_in_flight": by_numbers(in_flight)}
