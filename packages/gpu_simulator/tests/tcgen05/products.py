"""Products by tcgen05.mma for tests: operands laid out by the formulas of the PTX ISA, and the expected D."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import compiling
import ml_dtypes
import numpy as np

import gpu_simulator
from gpu_simulator.hardware.exact_sums import exact_sum, sum_rule
from gpu_simulator.hardware.instruction_descriptor import KINDS, InstructionDescriptor
from gpu_simulator.hardware.matrix_descriptor import SharedTile
from gpu_simulator.hardware.matrix_descriptor_sm100 import encode_sm100

SOURCE = (Path(__file__).parent / "products.cu").read_text()
ROOM, MIDDLE = 65536, 16384  # bytes of shared memory; B begins in the middle
TYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "u8": np.uint8,
    "s8": np.int8,
}


@dataclass(frozen=True)
class Product:
    """One tcgen05.mma, or `steps` of them along K.

    swizzle_a, swizzle_b: in bytes.   group: the number of blocks that multiply together.   inside: A is in tensor
    memory.   column, lane: the place of D.
    """

    m: int
    n: int
    kind: str = "f16"
    a: str = "bf16"
    b: str = "bf16"
    d: str = "f32"
    major_a: str = "k"
    major_b: str = "k"
    swizzle_a: int = 128
    swizzle_b: int = 128
    group: int = 1
    ws: bool = False
    inside: bool = False
    steps: int = 1
    accumulate: bool = True
    negate: tuple = (False, False)
    column: int = 0
    lane: int = 0
    disabled: int = 0
    scale: int = 0

    def __str__(self):
        base = Product(self.m, self.n)
        changed = [
            f"{name}={getattr(self, name)}"
            for name in self.__dataclass_fields__
            if name not in ("m", "n") and getattr(self, name) != getattr(base, name)
        ]
        return f"{self.m}x{self.n}" + "".join(f"-{part}" for part in changed)

    @property
    def k(self) -> int:
        return KINDS[self.kind].k

    def word(self) -> int:
        return InstructionDescriptor(
            self.m, self.n, self.a, self.b, self.d, self.major_a, self.major_b, *self.negate, self.kind
        ).encode()


def offset(row: int, k: int, rows: int, columns: int, size: int, major: str, swizzle: int) -> int:
    """The byte offset of an element in a tile of rows × columns (along K), by the canonical layouts (PTX ISA, tcgen05).

    The tile consists of consecutive blocks of `swizzle` bytes (16 without a swizzle) along the dense dimension.
    """
    wide = (swizzle or 16) // size
    if major == "k":
        (block, inner), line, lines = divmod(k, wide), row, rows
    else:
        (block, inner), line, lines = divmod(row, wide), k, columns
    place = (block * lines * wide + line * wide + inner) * size
    bits = {0: 0, 32: 1, 64: 3, 128: 7}[swizzle]
    return place ^ (place >> 7 & bits) << 4


def tile(start: int, rows: int, columns: int, size: int, major: str, swizzle: int) -> SharedTile:
    """The description of a tile with the layout of `offset`, which begins at byte `start` of shared memory."""
    wide = (swizzle or 16) // size
    eight = 8 * wide * size
    if major == "k":
        return SharedTile(start, rows * wide * size, eight, swizzle, "k")
    if swizzle:
        return SharedTile(start, columns * wide * size, eight, swizzle, "mn")
    return SharedTile(start, eight, columns * wide * size, 0, "mn")


def image(values: np.ndarray, size: int, major: str, swizzle: int) -> np.ndarray:
    """The bytes of a tile in shared memory, with the layout of `offset`. values: an array (rows, columns)."""
    rows, columns = values.shape
    out = np.zeros(ROOM - MIDDLE, np.uint8)
    raw = np.ascontiguousarray(values).view(np.uint8).reshape(rows, columns, size)
    for row in range(rows):
        for k in range(columns):
            at = offset(row, k, rows, columns, size, major, swizzle)
            out[at : at + size] = raw[row, k]
    return out


@lru_cache(maxsize=32)
def build(group: int, ws: bool, inside: bool, disable: bool, scale: int, kind: str, steps: int):
    settings = {
        "GROUP": group,
        "WS": int(ws),
        "INSIDE": int(inside),
        "DISABLE": int(disable),
        "SCALE": scale,
        "KIND": f'"{kind}"',
    }
    define = "".join(f"#define {name} {value}\n" for name, value in settings.items())
    text = define + SOURCE
    if group == 2:
        text = text.replace("__launch_bounds__(128)", "__cluster_dims__(2, 1, 1) __launch_bounds__(128)")
    return compiling.compile(
        text, arch="sm_100a", name="products.cu", entry="kernel", config={"STEPS": steps, "ROOM": ROOM}
    )


def places(p: Product):
    """Three arrays (m, n) with the block, lane and column of every element of D.

    PTX ISA, "Data Path Layout Organization".
    """
    row, column = np.indices((p.m, p.n))
    each = p.m // p.group
    block, row = row // each, row % each
    if each == 128:
        lane = row
    elif each == 64 and p.group == 1 and not p.ws:
        lane = row // 16 * 32 + row % 16
    else:
        half = p.n * each // 128
        lane, column = row + each * (column // half), column % half
    return block, lane + p.lane, column + p.column


def run(p: Product, seed: int = 0, change=lambda a, b, word: (a, b, word), normal: bool = False, **options):
    """Simulate a product of small integers; returns (tensor memory afterwards, expected tensor memory, report).

    normal: instead of normal numbers, which are summed by the rule of sm_100.
    change: modifies the descriptors of A and B and the instruction descriptor.
    """
    rng, size, columns = np.random.default_rng(seed), KINDS[p.kind].size, p.k * p.steps
    low = 0 if p.kind == "i8" else -3
    a = rng.integers(low, 4, (p.m, columns)).astype(TYPES[p.a])
    b = rng.integers(low, 4, (p.n, columns)).astype(TYPES[p.b])
    before = rng.integers(0, 50, (p.group, 128, 512)).astype(np.float32)
    if normal:
        a, b = (rng.standard_normal(x.shape).astype(x.dtype) for x in (a, b))
        before += rng.standard_normal(before.shape, np.float32)
    if p.d == "s32":
        before = before.astype(np.int32)
    if p.d == "f16":
        before = before.astype(np.float16).view(np.uint16).astype(np.uint32)
    before = before.view(np.uint32)
    rows_a, rows_b = p.m // p.group, p.n // p.group
    images = np.zeros((p.group, ROOM), np.uint8)
    block, lane, column = places(p)
    for rank in range(p.group):
        images[rank, MIDDLE:] = image(b[rank * rows_b : (rank + 1) * rows_b], size, p.major_b, p.swizzle_b)
        mine = a[rank * rows_a : (rank + 1) * rows_a]
        if p.inside:
            packed = np.ascontiguousarray(mine).view(np.uint32)
            lanes = lane[:rows_a, :: max(1, p.n * rows_a // 128) if len(np.unique(lane[0])) > 1 else p.n]
            for copy in lanes.T:
                before[rank, copy, 384 : 384 + packed.shape[1]] = packed
        else:
            images[rank, :MIDDLE] = image(mine, size, p.major_a, p.swizzle_a)[:MIDDLE]
    step_k = 32 if p.steps > 1 else 0
    first = encode_sm100(tile(0, rows_a, columns, size, p.major_a, p.swizzle_a)) if not p.inside else 384
    second = encode_sm100(tile(MIDDLE, rows_b, columns, size, p.major_b, p.swizzle_b))
    steps = []
    for major, swizzle, rows in ((p.major_a, p.swizzle_a, rows_a), (p.major_b, p.swizzle_b, rows_b)):
        if major == "k":
            steps.append(step_k // 16 if swizzle >= 64 else (rows * (swizzle or 16) * (1 if swizzle else 2)) // 16)
        else:
            steps.append(p.k * (swizzle or 16) // 16)
    if p.inside:
        steps[0] = p.k * size // 4
    first, second, word = change(first, second, p.word())
    after = np.zeros_like(before)
    compiled = build(p.group, p.ws, p.inside, bool(p.disabled), p.scale, p.kind, p.steps)
    report = gpu_simulator.launch(
        compiled, "kernel", p.group, 128,
        [images.reshape(-1), before.reshape(-1), after.reshape(-1), first, second, *steps, word,
         p.column | p.lane << 16, p.disabled, int(p.accumulate)], **options,
    )  # fmt: skip
    return after, expected(p, a, b, before, block, lane, column, normal), report


def expected(p: Product, a, b, before, block, lane, column, normal: bool) -> np.ndarray:
    """The expected tensor memory after the products, as uint32 words."""
    sign = (-1 if p.negate[0] else 1) * (-1 if p.negate[1] else 1)
    product = sign * (a.astype(np.float64) @ b.astype(np.float64).T)
    old = before[block, lane, column]
    values = {
        "f32": lambda: old.view(np.float32),
        "s32": lambda: old.view(np.int32),
        "f16": lambda: (old & 0xFFFF).astype(np.uint16).view(np.float16),
    }[p.d]().astype(np.float64)
    total = product + (values * 2.0**-p.scale if p.accumulate else 0)
    if normal:
        left, right, old = (np.float32(x) for x in (sign * a.astype(np.float32), b.T, values * 2.0**-p.scale))
        if p.a == "tf32":
            left, right = ((x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (left, right))
        total = exact_sum(left, right, old if p.accumulate else None, sum_rule(100, "tcgen05", p.a, p.b, p.d))
    if p.d == "f16":
        bits = total.astype(np.float16).view(np.uint16).astype(np.uint32)
    else:
        bits = np.ascontiguousarray(total.astype({"f32": np.float32, "s32": np.int32}[p.d])).view(np.uint32)
    want = before.copy()
    want[block, lane, column] = bits
    if p.disabled:
        quarters = (0, 3) if p.group == 1 else (0, 2)
        for rank in range(p.group):
            quarter = quarters[0] if rank == 0 else quarters[1]
            for where in quarters if p.group == 1 else (quarter,):
                kept = where * 32 + np.flatnonzero([p.disabled >> bit & 1 for bit in range(32)])
                want[rank, kept] = before[rank, kept]
    return want


__all__ = ["Product", "build", "replace", "run"]
