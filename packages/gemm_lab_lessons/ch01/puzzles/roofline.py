"""The puzzles of notebook 01: least times, the roofline, the traffic of a product, and the room for a tile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from gemm_lab.notebook.puzzle import Facts, Right, register, register_law
from gemm_lab.notebook.trying import expect
from gemm_lab.source_text import plural
from gemm_lab_lessons.shared.tiled_matmul import tiled_matmul
from gemm_results import roofline_model as model


@register_law(
    "01_seconds",
    title="The least time",
    task="Write seconds(flop, bytes, flops, bandwidth): the least time of a program that does `flop` operations at "
    "`flops` operations a second and moves `bytes` bytes at `bandwidth` bytes a second, both at the same time.",
    hint="How long do the operations take alone? How long do the bytes take alone? If both go on at the same time, "
    "which of the two times decides?",
    cases=[(100, 10, 10, 10), (10, 100, 10, 10), (50, 50, 10, 10), (2e9, 3e8, 4e12, 2e11), (1, 4000, 50, 100)],
    tried="programs tried",
)
def seconds(flop: float, bytes: float, flops: float, bandwidth: float) -> Right:
    why = f"The operations take {flop / flops:g} s and the bytes {bytes / bandwidth:g} s, and they overlap."
    return float(max(flop / flops, bytes / bandwidth)), why


@register_law(
    "01_attainable",
    title="The roofline as a function",
    task="Write attainable(intensity, tflops, gbps): the most TFLOPS that a kernel can reach if it does `intensity` "
    "FLOP for each byte, on a machine with a peak of `tflops` and a memory of `gbps` GB/s.",
    hint="gbps thousand million bytes arrive each second, and each of them is worth `intensity` FLOP. One TFLOPS is "
    "1,000 thousand million FLOP a second. No kernel passes the peak.",
    cases=[
        *((50.0, 65.0, 220.0), (1.0, 65.0, 320.0), (1000.0, 65.0, 320.0), (0.5, 8.1, 220.0)),
        *((float(i), 65.0, float(b)) for i, b in np.random.default_rng(0).integers(100, 900, (2, 20)).T),
    ],
    tried="kernels tried",
    facts=[("50 FLOP/byte on a T4", f"{model.attainable(50.0, 65.0, 220.0):.0f} TFLOPS")],
)
def attainable(intensity: float, tflops: float, gbps: float) -> Right:
    allowed = f"{gbps:g} GB/s with {intensity:g} FLOP each are {gbps * intensity:,.0f} GFLOPS"
    return model.attainable(intensity, tflops, gbps), f"{allowed}; the peak is {tflops} TFLOPS."


@register_law(
    "01_balance",
    title="The balance point",
    task="Write balance(tflops, gbps): the intensity, in FLOP per byte, from which on the peak is the limit and no "
    "longer the memory.",
    hint="At the balance point both limits are equal: intensity · gbps / 1000 = tflops. Solve for the intensity.",
    cases=[(65.0, 220.0), (8.1, 220.0), (65.0, 320.0), (989.4, 3350.0), (65.0, 1280.0), (65.0, 3662.0)],
    tried="machines tried",
    facts=[("T4, tensor cores and DRAM", f"{model.balance(65.0, 220.0):.1f} FLOP/byte")],
)
def balance(tflops: float, gbps: float) -> Right:
    right = model.balance(tflops, gbps)
    why = f"With {right:.1f} FLOP/byte the memory allows {right * gbps / 1000:.1f} TFLOPS, exactly the peak."
    return right, why


@register_law(
    "01_best_intensity",
    title="The best that a product can do",
    task="Write best_intensity(n): the FLOP per byte of an n × n × n product in FP16 (2 bytes an element), if each "
    "element of A, B and D is moved only once.",
    hint="You know the FLOP from notebook 00. How many elements do the three matrices have together, and how many "
    "bytes is that?",
    cases=[(3,), (64,), (100,), (675,), (4096,), (8192,)],
    tried="sizes tried",
    facts=[("n = 4096", f"{model.multiplication_intensity(4096):,.0f} FLOP/byte")],
)
def best_intensity(n: int) -> Right:
    why = f"The product does {2 * n**3:,} FLOP, and its three matrices have {3 * n * n:,} elements of 2 bytes."
    return model.multiplication_intensity(n), why


@register_law(
    "01_naive_traffic",
    title="The traffic of three loops",
    task="Write naive_traffic(n): how many elements three loops move for an n × n × n product, if every multiply-add "
    "reads both of its operands and each element of D is written once.",
    hint="How many multiply-adds are there? Each reads one element of A and one of B.",
    cases=[(2,), (1,), (8,), (16,), (32,)],
    tried="sizes counted",
    facts=[("n = 64", f"{2 * 64**3 + 64**2:,} elements")],
)
def naive_traffic(n: int) -> Right:
    return _moved(n, 1), f"There are {n}³ = {n**3:,} multiply-adds, and D has {n * n:,} elements."


@register_law(
    "01_tiled_traffic",
    title="The traffic of tiles",
    task="Write tiled_traffic(n, t): how many elements are moved for an n × n × n product if D is computed in tiles of "
    "t × t elements, and each tile reads the rows of A and the columns of B that it needs once.",
    hint="How many tiles has D? A tile needs t rows of A, each with n elements, and t columns of B. D itself is "
    "written once, as before.",
    cases=[(16, 4), (16, 1), (16, 16), (32, 8), (64, 16), (48, 12)],
    tried="tiles counted",
    facts=[("n = 64, t = 16", f"{2 * 64**3 // 16 + 64**2:,}")],
)
def tiled_traffic(n: int, t: int) -> Right:
    tiles = f"D has {(n // t) ** 2} tiles of {t} × {t}, and one of them reads {t} rows of A and {t} columns of B."
    return _moved(n, t), f"{tiles} The {n * n:,} elements of D are written once."


@cache
def _moved(n: int, tile: int) -> int:
    """The elements that cross between slow and fast memory, counted by running the loops."""
    ones = np.ones((n, n), int)
    return int(tiled_matmul(ones, ones, block=(tile, tile, 1)).traffic.dram)


@register_law(
    "01_tile_intensity",
    title="The intensity of a block tile",
    task="Write tile_intensity(bm, bn): the FLOP for each byte read, if a block computes bm × bn elements of D and "
    "reads its rows of A and columns of B in FP16, once.",
    hint="Take one step along k: the block reads bm elements of A and bn of B. How many multiply-adds does it do with "
    "them?",
    cases=[(16, 16), (128, 128), (256, 128), (128, 256), (64, 256), (1, 1), (16, 8)],
    tried="tiles tried",
    facts=[("256 × 128", f"{model.intensity(256, 128):.1f} FLOP/byte")],
)
def tile_intensity(bm: int, bn: int) -> Right:
    why = f"In one step along k, {bm} + {bn} elements of 2 bytes are read, for {bm} · {bn} multiply-adds of 2 FLOP."
    return model.intensity(bm, bn), why


@register_law(
    "01_together",
    title="DRAM behind L2",
    task="Write together(dram, l2, hits): the GB/s at which reads can be served if a share `hits` of them (between 0 "
    "and 1) is found in L2, which delivers at most l2 GB/s, and the rest comes from DRAM at dram GB/s.",
    hint="All reads pass through L2, so l2 is a limit. Only the share 1 - hits has to come from DRAM: if DRAM delivers "
    "dram GB/s, how much is served altogether? With hits = 1, DRAM is no limit at all.",
    cases=[*((220.0, 1280.0, hits) for hits in (0.0, 0.5, 0.75, 0.95)), (100.0, 300.0, 1.0)],
    tried="shares tried",
    facts=[("half of the reads hit", f"{220.0 / (1 - 0.5):.0f} GB/s")],
)
def together(dram: float, l2: float, hits: float) -> Right:
    right = float(model.l2_argument(dram_gbps=dram, l2_gbps=l2, hit_rate=hits).gbps)
    if hits == 1:
        return right, "No read needs DRAM, so L2 alone decides."
    return right, (
        f"Of 100 GB, {100 * (1 - hits):.0f} come from DRAM, which takes {100 * (1 - hits) / dram:.3f} s for them. "
        f"All 100 pass L2, which takes {100 / l2:.3f} s. Both work at the same time."
    )


@register_law(
    "01_room",
    title="The room that a tile takes",
    task="Write room(bm, bn, bk, stages): the tuple (bytes of shared memory, bytes of registers) of a block tile: "
    "`stages` copies of its FP16 tiles of A (bm × bk) and B (bk × bn), and bm × bn sums in FP32.",
    hint="FP16 takes 2 bytes, FP32 takes 4. The sums stay in registers all the time, so stages do not multiply them.",
    cases=[(128, 128, 32, 2), (256, 128, 32, 2), (256, 256, 32, 2), (64, 64, 64, 3), (128, 256, 16, 1)],
    tried="tiles tried",
)
def room(bm: int, bn: int, bk: int, stages: int) -> Right:
    why = f"A stage holds {bm * bk:,} + {bk * bn:,} elements of 2 bytes; there are {bm * bn:,} sums of 4 bytes."
    return (stages * (bm + bn) * bk * 2, bm * bn * 4), why


@register(
    "01_strips",
    title="Strips for several tiles",
    task="Write strips(tiles): how many strips of A and of B are read together for a list of tiles (row, column) of D, "
    "if a strip that several tiles need is read once.",
    hint="A tile in row 3 and column 5 needs strip 3 of A and strip 5 of B. A set of Python keeps each value once.",
)
def strips(answer: Callable[[list[tuple[int, int]]], int]) -> Facts:
    random = np.random.default_rng(3)
    works = {
        "one tile": [(0, 0)],
        "two tiles with a gap": [(0, 0), (2, 2)],
        "twelve tiles in a line": [(0, column) for column in range(12)],
        "a rectangle of 4 × 3 tiles": [(row, column) for row in range(4) for column in range(3)],
        "tiles on a diagonal": [(step, step) for step in range(5)],
        "twelve tiles in a column": [(row, 2) for row in range(12)],
        "twenty tiles anywhere": [(int(r), int(c)) for r, c in random.integers(0, 8, (20, 2))],
    }
    for what, tiles in works.items():
        rows, columns = {row for row, _ in tiles}, {column for _, column in tiles}
        why = f"These are {what}, in {plural(len(rows), 'row')} and {plural(len(columns), 'column')} of tiles."
        expect(answer, (tiles,), len(rows) + len(columns), why)
    return [("sets of tiles tried", str(len(works))), ("twelve in a line", "13"), ("4 × 3", "7")]
