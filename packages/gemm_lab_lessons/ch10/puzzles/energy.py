"""The puzzles of notebook 10b: clocks, peaks, joules and the supply of bytes."""

from __future__ import annotations

from itertools import product

import numpy as np

from gemm_lab.notebook.puzzle import Right, register_law
from gemm_lab_lessons.ch10.tile_bounds import FLOP_PER_CLOCK, bytes_per_clock, peak_at


@register_law(
    "10_clock",
    title="The clock from two stamps",
    task="Write clock_mhz(first, last): the clock of a multiprocessor in MHz. A stamp is a pair (cycles, nanoseconds): "
    "the counter of the multiprocessor and the global timer, read at the same moment.",
    hint="How many cycles passed, and in how many nanoseconds? Cycles in a microsecond are MHz.",
    cases=[
        ((1000, 500), (2800, 1500)),
        ((0, 10**9), (1_800_000, 10**9 + 10**6)),
        *(
            ((start, 7 * start), (start + cycles, 7 * start + took))
            for cycles, start, took in np.random.default_rng(3).integers(10_000, 10**7, (20, 3)).tolist()
        ),
    ],
    tried="pairs tried",
)
def clock_mhz(first: tuple[int, int], last: tuple[int, int]) -> Right:
    cycles, took = last[0] - first[0], last[1] - first[1]
    return 1000 * cycles / took, f"{cycles:,} cycles passed in {took:,} ns."


@register_law(
    "10_peak",
    title="The peak at a clock",
    task="Write peak(mhz, sms): the TFLOPS of all tensor cores at this clock. In BF16 one multiprocessor does "
    f"{FLOP_PER_CLOCK:,} operations in a cycle: a wgmma of 64 × 256 × 16 has 524,288 and takes 128 cycles.",
    hint="Operations in a cycle, times cycles in a second, times multiprocessors. MHz are 10⁶ and TFLOPS 10¹².",
    cases=[(1830.0, 132), (1000.0, 132), (1345.2, 132), (1755.0, 114), (500.0, 1)],
    tried="clocks tried",
    facts=[("at 1,830 MHz", f"{peak_at(1830, 132):.1f} TFLOPS")],
)
def peak(mhz: float, sms: int) -> Right:
    why = f"{FLOP_PER_CLOCK:,} operations · {sms} multiprocessors · {mhz:g} million cycles a second."
    return peak_at(mhz, sms), why


@register_law(
    "10_joules",
    title="Joules for a product",
    task="Write joules(watts, tflops, n): the energy of one n × n × n product, for a board that draws `watts` while it "
    "multiplies at `tflops`.",
    hint="How many operations does the product have, and how many seconds do they take? A watt is a joule a second.",
    cases=[(700.0, 700.0, 8192), (388.0, 782.0, 8192), (250.0, 50.0, 1024), (700.0, 350.0, 16384)],
    tried="products tried",
    facts=[("700 W, 700 TFLOPS, 8192", f"{2 * 8192**3 / 1e12:.2f} J")],
)
def joules(watts: float, tflops: float, n: int) -> Right:
    flop = 2 * n**3
    why = f"{flop:,} operations take {flop / tflops / 1e9:.3g} ms at {tflops:g} TFLOPS."
    return watts * flop / (tflops * 1e12), why


@register_law(
    "10_appetite",
    title="What a tile eats in a cycle",
    task="Write appetite(block_m, block_n): the bytes of A and B in BF16 that one multiprocessor has to get in each "
    f"clock cycle, if its tensor cores do {FLOP_PER_CLOCK:,} operations in every cycle. Each k tile of A and of B is "
    "fetched once.",
    hint="Take a slice of one column of A and one row of B. How many bytes is it, how many operations does it feed, "
    "and how many cycles do these take?",
    cases=[(128, 128), (128, 192), (128, 256), (64, 64), (256, 128), (256, 256), (128, 112)],
    tried="tiles tried",
    facts=[("128 × 128", f"{bytes_per_clock(128, 128):.1f} bytes a cycle")],
)
def appetite(block_m: int, block_n: int) -> Right:
    return bytes_per_clock(block_m, block_n), (
        f"A slice of k has {block_m} + {block_n} values of 2 bytes and feeds 2 · {block_m} · {block_n} operations, "
        f"which take {2 * block_m * block_n / FLOP_PER_CLOCK:g} cycles."
    )


@register_law(
    "10_two_limits",
    title="The clock and the supply",
    task="Write fastest(mhz, terabytes, block_m, block_n): the most TFLOPS that 132 multiprocessors can reach at this "
    "clock, if `terabytes` · 10¹² bytes of A and B reach them in a second, whatever the clock is.",
    hint="There are two limits: what the tensor cores can do, and what the bytes can feed. How many operations does a "
    "byte feed in such a tile? The smaller of the two limits decides.",
    cases=list(product((1200.0, 1400.0, 1600.0, 1800.0), (8.0, 12.5), (128,), (128, 192, 256))),
    tried="cases tried",
)
def fastest(mhz: float, terabytes: float, block_m: int, block_n: int) -> Right:
    cores, bytes = peak_at(mhz, 132), terabytes * block_m * block_n / (block_m + block_n)
    return min(cores, bytes), f"The tensor cores allow {cores:.0f} TFLOPS, the bytes {bytes:.0f}."
