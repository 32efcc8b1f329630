"""The puzzles of notebook 10b: clocks, peaks, joules and the supply of bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gemm_lab.notebook.puzzle import Facts, register
from gemm_lab.notebook.trying import expect_all
from gemm_lab_lessons.ch10.tile_bounds import FLOP_PER_CLOCK, bytes_per_clock, peak_at


@register(
    "10_clock",
    title="The clock from two stamps",
    task="Write clock_mhz(first, last): the clock of a multiprocessor in MHz. A stamp is a pair (cycles, nanoseconds): "
    "the counter of the multiprocessor and the global timer, read at the same moment.",
    hint="How many cycles passed, and in how many nanoseconds? Cycles in a microsecond are MHz.",
)
def clock_mhz(answer: Callable[[tuple[int, int], tuple[int, int]], float]) -> Facts:
    random = np.random.default_rng(3)
    cases = [((1000, 500), (2800, 1500)), ((0, 10**9), (1_800_000, 10**9 + 10**6))]
    for cycles, start, took in random.integers(10_000, 10**7, (20, 3)).tolist():
        cases.append(((start, 7 * start), (start + cycles, 7 * start + took)))

    def why(first: tuple[int, int], last: tuple[int, int]) -> str:
        return f"{last[0] - first[0]:,} cycles passed in {last[1] - first[1]:,} ns."

    tried = expect_all(answer, [((a, b), 1000 * (b[0] - a[0]) / (b[1] - a[1])) for a, b in cases], why)
    return [("pairs tried", str(tried))]


@register(
    "10_peak",
    title="The peak at a clock",
    task="Write peak(mhz, sms): the TFLOPS of all tensor cores at this clock. In BF16 one multiprocessor does "
    f"{FLOP_PER_CLOCK:,} operations in a cycle: a wgmma of 64 × 256 × 16 has 524,288 and takes 128 cycles.",
    hint="Operations in a cycle, times cycles in a second, times multiprocessors. MHz are 10⁶ and TFLOPS 10¹².",
)
def peak(answer: Callable[[float, int], float]) -> Facts:
    cases = [(1830.0, 132), (1000.0, 132), (1345.2, 132), (1755.0, 114), (500.0, 1)]
    tried = expect_all(
        answer,
        [(case, peak_at(*case)) for case in cases],
        lambda mhz, sms: f"{FLOP_PER_CLOCK:,} operations · {sms} multiprocessors · {mhz:g} million cycles a second.",
    )
    return [("clocks tried", str(tried)), ("at 1,830 MHz", f"{peak_at(1830, 132):.1f} TFLOPS")]


@register(
    "10_joules",
    title="Joules for a product",
    task="Write joules(watts, tflops, n): the energy of one n × n × n product, for a board that draws `watts` while it "
    "multiplies at `tflops`.",
    hint="How many operations does the product have, and how many seconds do they take? A watt is a joule a second.",
)
def joules(answer: Callable[[float, float, int], float]) -> Facts:
    cases = [(700.0, 700.0, 8192), (388.0, 782.0, 8192), (250.0, 50.0, 1024), (700.0, 350.0, 16384)]

    def right(watts: float, tflops: float, n: int) -> float:
        return watts * 2 * n**3 / (tflops * 1e12)

    tried = expect_all(
        answer,
        [(case, right(*case)) for case in cases],
        lambda watts, tflops, n: f"{2 * n**3:,} operations take {2 * n**3 / tflops / 1e9:.3g} ms at {tflops:g} TFLOPS.",
    )
    return [("products tried", str(tried)), ("700 W, 700 TFLOPS, 8192", f"{right(700, 700, 8192):.2f} J")]


@register(
    "10_appetite",
    title="What a tile eats in a cycle",
    task="Write appetite(block_m, block_n): the bytes of A and B in BF16 that one multiprocessor has to get in each "
    f"clock cycle, if its tensor cores do {FLOP_PER_CLOCK:,} operations in every cycle. Each k tile of A and of B is "
    "fetched once.",
    hint="Take a slice of one column of A and one row of B. How many bytes is it, how many operations does it feed, "
    "and how many cycles do these take?",
)
def appetite(answer: Callable[[int, int], float]) -> Facts:
    cases = [(128, 128), (128, 192), (128, 256), (64, 64), (256, 128), (256, 256), (128, 112)]

    def why(block_m: int, block_n: int) -> str:
        return (
            f"A slice of k has {block_m} + {block_n} values of 2 bytes and feeds 2 · {block_m} · {block_n} operations, "
            f"which take {2 * block_m * block_n / FLOP_PER_CLOCK:g} cycles."
        )

    tried = expect_all(answer, [(case, bytes_per_clock(*case)) for case in cases], why)
    return [("tiles tried", str(tried)), ("128 × 128", f"{bytes_per_clock(128, 128):.1f} bytes a cycle")]


@register(
    "10_two_limits",
    title="The clock and the supply",
    task="Write fastest(mhz, terabytes, block_m, block_n): the most TFLOPS that 132 multiprocessors can reach at this "
    "clock, if `terabytes` · 10¹² bytes of A and B reach them in a second, whatever the clock is.",
    hint="There are two limits: what the tensor cores can do, and what the bytes can feed. How many operations does a "
    "byte feed in such a tile? The smaller of the two limits decides.",
)
def fastest(answer: Callable[[float, float, int, int], float]) -> Facts:
    cases = [
        (mhz, supply, 128, block_n)
        for mhz in (1200.0, 1400.0, 1600.0, 1800.0)
        for supply in (8.0, 12.5)
        for block_n in (128, 192, 256)
    ]

    def limits(mhz: float, supply: float, block_m: int, block_n: int) -> tuple[float, float]:
        return peak_at(mhz, 132), supply * block_m * block_n / (block_m + block_n)

    tried = expect_all(
        answer,
        [(case, min(limits(*case))) for case in cases],
        lambda *case: "The tensor cores allow {:.0f} TFLOPS, the bytes {:.0f}.".format(*limits(*case)),
    )
    return [("cases tried", str(tried))]
