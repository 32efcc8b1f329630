"""Small puzzles of notebook 11b: barriers, waits, bytes, rounds, descriptors, and a fused epilogue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from gemm_lab.config import data_dir
from gemm_lab.lab import kernel
from gemm_lab.lab.simulate import simulate
from gemm_lab.notebook.judges.run_faults import FAULTS, first_hazard_of
from gemm_lab.notebook.puzzle import Facts, Right, register, register_law
from gemm_lab.notebook.trying import Missed, call
from gemm_lab_lessons.ch10.block_order import Wave
from gemm_lab_lessons.ch11.mn_major import multiply
from gemm_lab_lessons.ch11.stones import stone
from gpu_simulator.argument_checks import shown
from gpu_simulator.hardware.matrix_descriptor import SharedTile, encode_sm90
from gpu_simulator.hardware.tensor_map import ENCODED_BYTES, TensorMap

Function = Callable[..., Any]


@register_law(
    "11_turn",
    title="A stage and two parities",
    task="Write turn(i, stages): for k tile number i, from 0, of a ring, the triple (stage, the parity for which the "
    "consumer waits on full[stage], the parity for which the producer waits on empty[stage]).",
    hint="How often has this stage been used before? The consumer waits for the phase of that number, and phases "
    "begin with 0. The producer waits for the phase before it, which a fresh barrier counts as over.",
    cases=[(i, stages) for stages in (1, 2, 3, 4, 7) for i in range(3 * stages + 1)],
    tried="turns tried",
)
def turn(i: int, stages: int) -> Right:
    used, stage = divmod(i, stages)
    return (stage, used % 2, (used + 1) % 2), f"Stage {stage} has been used {used} times before."


@register_law(
    "11_newest",
    title="The N of the wait",
    task="Write newest(committed, needed): groups of wgmma number 0 to committed − 1 have been committed, and now "
    "group number `needed` has to be complete. Which is the largest N with which wgmma_wait_group<N>() makes "
    "sure of it?",
    hint="wgmma_wait_group<N>() returns when all groups but the N newest are complete. How many groups are newer than "
    "the one that you need?",
    cases=[(committed, needed) for committed in range(1, 7) for needed in range(committed)],
    tried="waits tried",
)
def newest(committed: int, needed: int) -> Right:
    return committed - 1 - needed, f"The newest group is number {committed - 1}."


@register_law(
    "11_in_flight",
    title="Bytes in flight",
    task="Write in_flight(block_m, block_n, block_k, stages): the bytes of A and B in BF16 that can be on their way to "
    "a block while it multiplies the tiles of one stage.",
    hint="A stage holds BLOCK_M × BLOCK_K values of A and BLOCK_N × BLOCK_K of B, and one stage is being read.",
    cases=[(128, 128, 64, 3), (128, 256, 64, 4), (64, 64, 64, 2), (128, 128, 64, 6), (64, 24, 64, 1), (64, 192, 32, 5)],
    tried="rings tried",
    facts=[("128 × 256 × 64, 4 stages", f"{(128 + 256) * 64 * 2 * 3:,} bytes")],
)
def in_flight(block_m: int, block_n: int, block_k: int, stages: int) -> Right:
    stage = (block_m + block_n) * block_k * 2
    return stage * (stages - 1), f"A stage has {stage:,} bytes, and {stages - 1} of {stages} stages can wait."


@register_law(
    "11_last_round",
    title="Tiles of the last round",
    task="Write last_round(m, n, block_m, block_n, sms): the pair (rounds, tiles in the last round), for one tile a "
    "multiprocessor at a time. A tile that reaches beyond the edge of D counts as a whole one.",
    hint="Round both quotients up before you multiply. A last round that is full has sms tiles, and not 0.",
    cases=[
        (4096, 4096, 128, 256, 132),
        (4096, 4096, 128, 192, 132),
        (192, 768, 64, 64, 132),
        (132 * 64, 64, 64, 64, 132),
        (5120, 5120, 128, 256, 132),
        (100, 100, 64, 64, 1),
    ],
    tried="products tried",
)
def last_round(m: int, n: int, block_m: int, block_n: int, sms: int) -> Right:
    down, across = -(-m // block_m), -(-n // block_n)
    rounds = -(-down * across // sms)
    why = f"There are {down} × {across} tiles for {sms} multiprocessors."
    return (rounds, down * across - (rounds - 1) * sms), why


def _wave(rows: int, columns: int, block_m: int, block_n: int) -> Wave:
    read = rows * columns * (block_m + block_n)
    return Wave(0, rows * columns, rows, columns, read, rows * block_m + columns * block_n)


@register_law(
    "11_hit_share",
    title="Block order as an equation",
    task="Write hit_share(rows, columns, block_m, block_n): `rows` × `columns` tiles of D are computed at the same "
    "time, and all go along k together. Which share of what they read, 0 to 1, has another tile of them read as "
    "well, so that L2 can serve it?",
    hint="Count the rows and columns of A and B. All tiles together read rows · columns · (block_m + block_n) of them; "
    "how many different ones are there?",
    cases=[
        (1, 1, 128, 128),
        (1, 132, 128, 256),
        (8, 16, 128, 128),
        (16, 8, 128, 256),
        (11, 12, 128, 192),
        (3, 12, 64, 64),
    ],
    tried="orders tried",
    facts=[("8 × 16 tiles of 128 × 128", f"{_wave(8, 16, 128, 128).hit_rate:.1%}")],
)
def hit_share(rows: int, columns: int, block_m: int, block_n: int) -> Right:
    found = _wave(rows, columns, block_m, block_n)
    why = f"They read {found.read_bytes:,} rows and columns, of which {found.distinct_bytes:,} are different."
    return float(found.hit_rate), why


# ---- Kernels with a place to fill ----

_STEPS = {
    "wait": "    mbarrier_wait_parity(full + stage * 8, i / STAGES % 2);\n",
    "multiply": """    wgmma_fence();
    for (int k = 0; k < BLOCK_K / 16; k++)
      wgmma_m64k16_bf16(acc, tile_a + k * 2, tile_b + k * 2, i > 0 || k > 0);
    wgmma_commit_group();
""",
    "drain": "    wgmma_wait_group<0>();\n",
    "barrier": "    __syncthreads();\n",
    "copy": "    if (threadIdx.x == 0 && (i + STAGES) * BLOCK_K < K) copy(stage, (i + STAGES) * BLOCK_K);\n",
}


def ordered(steps: Sequence[str]) -> str:
    """Stone 3 for two warpgroups, each with 64 of 128 rows, whose main loop does `steps` in this order."""
    text = stone(3).text.replace("NUM_THREADS = 128", "NUM_THREADS = 256").replace("BLOCK_M == 64", "BLOCK_M == 128")
    text = text.replace("tiles + stage * STAGE);", "tiles + stage * STAGE) + threadIdx.x / 128 * 512;")
    before, rest = text.split("    mbarrier_wait_parity(", 1)
    after = rest[rest.index("  }\n\n") :]
    tiles = "".join(f"{line}\n" for line in rest.split("\n") if line.startswith("    const uint64_t tile_"))
    return before + tiles + "".join(_STEPS[step] for step in steps) + after


@register(
    "11_order",
    title="The order of a turn",
    task="Write turn_of_the_ring(): the five steps of a turn in their order, as a list of the texts 'barrier' "
    "(__syncthreads), 'copy' (one thread asks for the tile that takes this stage next), 'drain' "
    "(wgmma_wait_group<0>), 'multiply' (issue and commit the products of this stage) and 'wait' (for the bytes of this "
    "stage). Two warpgroups multiply 64 rows each of the same stage, and there is no producer.",
    hint="Products may read a stage only when its bytes have come. A copy may write it only when the products of both "
    "warpgroups have read it: wgmma_wait_group covers those of its own warpgroup alone.",
)
def order(answer: Function) -> Facts:
    steps = call(answer)
    if not isinstance(steps, (list, tuple)) or sorted(map(str, steps)) != sorted(_STEPS):
        raise Missed(f"The function returned {shown(steps)}. Return a list with each of {', '.join(_STEPS)} once.")
    made = kernel("hopper/02", BLOCK_M=128, BLOCK_N=64).rewrite(ordered(steps))
    try:
        run = made.run(64, 128, 320, backend="simulator")
        reasons = [] if run.passed else [run.message]
        reasons += first_hazard_of(run)
    except FAULTS as fault:
        reasons = [str(fault)]
    if reasons:
        raise Missed(f"In this order, with five k tiles and two stages: {' '.join(reasons)}")
    return [("k tiles tried", "5"), ("stages", "2"), ("hazards", "none, in both timings")]


@register(
    "11_fused",
    title="Bias and SiLU in the epilogue",
    task="Write epilogue(): it returns the CUDA text that stores D = silu(AB + bias) in place of D = AB, where bias "
    "has one float for each column and silu(x) is x / (1 + exp(−x)). Round to BF16 once, at the end.",
    hint="Two neighbouring sums belong to the columns col + n * 8 and col + n * 8 + 1. Add the bias to each before "
    "the activation; __expf(-x) is the exponential of the machine.",
)
def fused(answer: Function) -> Facts:
    text = call(answer)
    if not isinstance(text, str):
        raise Missed(f"The function returned {shown(text)}. Return the text of the epilogue.")
    random = np.random.default_rng(5)
    m, n, k = 64, 128, 64
    a, b = (random.integers(-2, 3, shape).astype(ml_dtypes.bfloat16) for shape in ((m, k), (n, k)))
    bias = (2 * random.standard_normal(n)).astype(np.float32)
    d = np.full((m, n), np.nan, ml_dtypes.bfloat16)
    head, tail = stone(2).text.split("  for (int n = 0; n < BLOCK_N / 8; n++)\n    for (int half")
    source = head.replace("__nv_bfloat16* d, int M", "__nv_bfloat16* d, const float* bias, int M") + text + "\n}\n"
    ran = simulate(
        source,
        grid=(n // 64, m // 64),
        block=128,
        args=[a, b, d, bias, m, n, k],
        defines={"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 64},
        include=[data_dir("kernels") / "include"],
    )
    if ran.error is not None:
        raise Missed(str(ran.error))
    x = a.astype(np.float64) @ b.astype(np.float64).T + bias
    wanted, got = x / (1 + np.exp(-x)), d.astype(np.float64)
    if (wrong := np.argwhere(~(np.abs(got - wanted) <= 1.02 * 2**-8 * np.abs(wanted) + 1e-5))).size:
        row, col = wrong[0]
        raise Missed(
            f"D[{row}, {col}] is {got[row, col]:.4g}; it should be {wanted[row, col]:.4g}: the sum is "
            f"{x[row, col] - bias[col]:g} and the bias of the column {bias[col]:g}. "
            f"{len(wrong):,} of {d.size:,} elements are wrong."
        )
    if ran.hazards:
        raise Missed(f"D is right this time, and need not be the next time. {ran.hazards[0]}")
    return [("elements", f"{d.size:,}"), ("largest error", f"{np.abs(got - wanted).max():.2g}")]


# ---- Words for the hardware ----


@register(
    "11_mn_major",
    title="A descriptor for an MN-major operand",
    task="Write descriptor(start, k): the 64-bit descriptor of wgmma for the products of k to k + 15, where k is 0, "
    "16, 32 or 48, of a tile of B at byte `start` of shared memory. The tile lies as the table above says: 64 values "
    "of k, 128 columns, the 128-byte swizzle, neighbours along N.",
    hint="Bits 0 to 13 have the start, 16 to 29 the leading offset, 32 to 45 the stride offset, each divided by 16; "
    "bits 62 and 63 have 1 for the 128-byte swizzle. Sixteen values of k are sixteen rows of 128 bytes further. The "
    "leading offset leads to the next 64 columns, the stride offset to the next eight values of k.",
)
def mn_major(answer: Function) -> Facts:
    def right(start: int, k: int) -> SharedTile:
        return SharedTile(start + k * 128, 8192, 1024, 128, "mn")

    for start, k in product((0, 8192, 49152), (0, 16, 32, 48)):
        word = call(answer, start, k)
        if isinstance(word, bool) or not isinstance(word, (int, np.integer)) or not 0 <= int(word) < 1 << 64:
            raise Missed(f"descriptor({start}, {k}) returned {shown(word)}; a descriptor is a whole number of 64 bits.")
        wanted = encode_sm90(right(start, k))
        fields = (("start address", 0, 14), ("leading offset", 16, 14), ("stride offset", 32, 14), ("swizzle", 62, 2))
        for name, at, bits in fields:
            mine, should = (value >> at & (1 << bits) - 1 for value in (int(word), wanted))
            if mine != should:
                raise Missed(
                    f"descriptor({start}, {k}) returned {int(word):#018x}. Its field of the {name}, from bit {at} on, "
                    f"has {mine:#x} and not what this tile needs." + _as_bytes(name, mine)
                )
        if int(word) != wanted:
            raise Missed(f"descriptor({start}, {k}) returned {int(word):#018x}, which sets bits outside of the fields.")
    ran, d, wanted_d = multiply([int(call(answer, 0, k)) for k in (0, 16, 32, 48)])
    if ran.error is not None or not np.array_equal(d, wanted_d):
        raise Missed(f"The words are as they should be, and the product is wrong: {ran.error}")
    return [("descriptors tried", "12"), ("64 × 128 × 64 with them", "exact on the simulator")]


def _as_bytes(name: str, value: int) -> str:
    return "" if name == "swizzle" else f" It says {value * 16:,} bytes."


_PLACES = (
    ("the mark", 0, 8),
    ("the address", 8, 16),
    ("the sizes", 16, 36),
    ("the strides", 36, 68),
    ("the box", 68, 78),
    ("the element strides", 78, 83),
    ("the number of dimensions", 83, 84),
    ("the element type", 84, 85),
    ("the swizzle", 85, 86),
    ("the L2 promotion", 86, 87),
    ("the fill", 87, 88),
    ("the rest", 88, ENCODED_BYTES),
)


@register(
    "11_tensor_map",
    title="A tensor map in 128 bytes",
    task="Write tensor_map(address, rows, columns, box_rows, box_columns): the 128 bytes of the table above for a "
    "row-major BF16 matrix, boxes with the 128-byte swizzle, promotion to 128 bytes of L2, and zeros out of bounds.",
    hint="struct.pack('<8sQ5I4Q5H5B5B', …) packs 8 bytes, an address, 5 sizes, 4 strides, 5 extents of the box, 5 "
    "element strides and 5 single bytes. The innermost dimension comes first, so the columns. Two dimensions have one "
    "stride: the bytes of a row. bytes.ljust(128, b'\\0') fills the rest.",
)
def tensor_map(answer: Function) -> Facts:
    cases = [(1 << 32, 4096, 4096, 128, 64), (1 << 40, 192, 512, 64, 64), (4096, 7, 1032, 1, 8)]
    for address, rows, columns, box_rows, box_columns in cases:
        made = TensorMap.of_shape("bf16", (rows, columns), (box_columns, box_rows), swizzle=128)
        case, wanted = (address, rows, columns, box_rows, box_columns), made.encoded(address)
        raw = call(answer, *case)
        if not isinstance(raw, (bytes, bytearray)) or len(raw) != ENCODED_BYTES:
            size = f"{len(raw)} bytes" if isinstance(raw, (bytes, bytearray)) else shown(raw)
            raise Missed(f"tensor_map{case} returned {size}; a tensor map has {ENCODED_BYTES} bytes.")
        for name, first, end in _PLACES:
            if raw[first:end] != wanted[first:end]:
                raise Missed(
                    f"tensor_map{case} differs in {name}, bytes {first} to {end - 1}: "
                    f"{bytes(raw[first:end]).hex(' ')}, and not {wanted[first:end].hex(' ')}."
                )
    return [("maps tried", str(len(cases))), ("bits compared", f"{8 * ENCODED_BYTES * len(cases):,}")]


@register_law(
    "11_exposed",
    title="What the epilogue costs",
    task="Write exposed(k_tiles, cycles, epilogue, turns): the cycles without products that come for each tile of D on "
    "average, when many tiles follow one another. The products of a tile take k_tiles k tiles of `cycles` each, and "
    "then its epilogue follows. With turns False all consumers multiply and store a tile together. With turns True two "
    "consumers have a tile each: their products follow in turn, and their epilogues may run at the same time.",
    hint="Together: the whole epilogue. In turns, follow four tiles on paper: what is left of one consumer's epilogue "
    "when the other's products are done is a gap, and never less than nothing. After the gap both multiply, one after "
    "the other. So how many tiles share one gap?",
    cases=[
        (k_tiles, cycles, epilogue, turns)
        for k_tiles in (1, 4, 8, 128)
        for cycles, epilogue in ((512, 2500), (1024, 2500), (512, 4096))
        for turns in (False, True)
    ],
    tried="tiles tried",
)
def exposed(k_tiles: int, cycles: int, epilogue: int, turns: bool) -> Right:
    products = f"The products of a tile take {k_tiles * cycles:,} cycles."
    if not turns:
        return float(epilogue), products
    return max(0, epilogue - k_tiles * cycles) / 2, f"{products} Both consumers may store at the same time."
