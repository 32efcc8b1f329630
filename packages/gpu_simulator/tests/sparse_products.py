"""One mma.sp for tests: kernel, operands and the product, by the formulas of the PTX ISA for the fragments of mma.sp.

Nothing here comes from the simulator. The lanes of the metadata, which the ISA shows only in figures, are those of
`gpu_simulator.hardware.sparse_metadata`'s source; tests/runner/test_mma_sp_on_gpu.py asks a GPU about them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8}


@dataclass(frozen=True)
class Sparse:
    """m16n8k of A's and B's types. c: type of C and D.   ordered: sp::ordered_metadata."""

    k: int
    a: str
    b: str
    c: str
    ordered: bool = True
    selector: int = 0

    def __str__(self):
        return f"k{self.k}-{self.c}-{self.a}-{self.b}-{'ordered' if self.ordered else 'sp'}-{self.selector}"

    @property
    def opcode(self) -> str:
        words = "sp::ordered_metadata" if self.ordered else "sp"
        return f"mma.{words}.sync.aligned.m16n8k{self.k}.row.col.{self.c}.{self.a}.{self.b}.{self.c}"

    @property
    def bits(self) -> int:
        return BITS[self.a]

    @property
    def each(self) -> int:
        """Elements of a chunk of A, of which half are stored."""
        return 2 if self.a == "tf32" else 4

    def counts(self) -> tuple[int, int, int]:
        """Registers of A, B and C."""
        return self.k * self.bits // 128, self.k * self.bits // 128, 2 if self.c == "f16" else 4


def _selectors(k: int, a: str) -> range:
    """0 … 3 where one thread of four contributes, 0 and 1 where two do, 0 where all do."""
    return range({("f16", 16): 4, ("bf16", 16): 4, ("tf32", 8): 4, ("s8", 64): 1, ("e4m3", 64): 1}.get((a, k), 2))


FORMS = [
    Sparse(k, a, b, c, ordered, selector)
    for a, b, sums, ks in (
        ("f16", "f16", ("f16", "f32"), (16, 32)),
        ("bf16", "bf16", ("f32",), (16, 32)),
        ("tf32", "tf32", ("f32",), (8, 16)),
        ("s8", "s8", ("s32",), (32, 64)),
        ("e4m3", "e4m3", ("f32",), (64,)),
    )
    for k in ks
    for c in sums
    for ordered in (True, False)
    for selector in _selectors(k, a)
] + [
    Sparse(32, "s8", "u8", "s32"),
    Sparse(32, "u8", "s8", "s32", False, 1),
    Sparse(64, "u8", "u8", "s32"),
    Sparse(64, "u8", "s8", "s32", False),
    Sparse(64, "e5m2", "e5m2", "f32"),
    Sparse(64, "e4m3", "e5m2", "f32", False),
    Sparse(64, "e5m2", "e4m3", "f32"),
]


# ---- Numbers ----


def fp8(kind: str) -> np.ndarray:
    """(256,) float32: the value of each code; NaN and infinities are NaN here."""
    fraction, bias = (3, 7) if kind == "e4m3" else (2, 15)
    out = []
    for code in range(256):
        sign, exponent, rest = code >> 7, code >> fraction & (1 << 7 - fraction) - 1, code & (1 << fraction) - 1
        scale = 2.0 ** (max(exponent, 1) - bias - fraction)
        value = (-1) ** sign * (rest + ((1 << fraction) if exponent else 0)) * scale
        special = code & 0x7F == 0x7F if kind == "e4m3" else exponent == 31
        out.append(np.nan if special else value)
    return np.array(out, np.float32)


def encode(values: np.ndarray, kind: str) -> np.ndarray:
    """The bits of numbers, as unsigned integers of the element's width. FP8 takes the nearest value, BF16 and TF32 cut."""
    if kind in ("s8", "u8", "s32"):
        return values.astype(np.int64).astype(np.uint32 if kind == "s32" else np.uint8)
    if kind in ("e4m3", "e5m2"):
        table = np.nan_to_num(fp8(kind), nan=1e9)
        return np.abs(values[..., None] - table).argmin(-1).astype(np.uint8)
    if kind == "f16":
        return values.astype(np.float16).view(np.uint16)
    bits = values.astype(np.float32).view(np.uint32)
    return {"bf16": (bits >> 16).astype(np.uint16), "tf32": bits & np.uint32(0xFFFFE000), "f32": bits}[kind]


def decode(bits: np.ndarray, kind: str) -> np.ndarray:
    """The float64 values of what `encode` gives."""
    if kind in ("e4m3", "e5m2"):
        return fp8(kind)[bits].astype(np.float64)
    if kind == "bf16":
        return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    view = {"s8": np.int8, "u8": np.uint8, "s32": np.int32, "f16": np.float16}.get(kind, np.float32)
    return bits.view(view).astype(np.float64)


def numbers(kind: str, shape, what: str, rng) -> np.ndarray:
    """Random values. what: "whole" for small whole numbers, "normal" for normal ones (bytes: of the whole range)."""
    if kind in ("s8", "u8"):
        return rng.integers(*((-128, 128) if kind == "s8" else (0, 256)), shape)
    if kind == "s32":
        return rng.integers(-(2**30), 2**30, shape)
    return rng.integers(-4, 5, shape).astype(np.float64) if what == "whole" else rng.standard_normal(shape)


# ---- Fragments, by the formulas of the PTX ISA. group: lane >> 2; member: lane % 4 ----


def place_a(form: Sparse, lane: int, i: int) -> tuple[int, int, int]:
    """(row, chunk of the row, which of the chunk's stored elements) of a_i."""
    group, member = lane >> 2, lane % 4
    if form.bits == 16:
        first = member * 4 + (16 if i >= 4 else 0)
        return (group if i % 4 < 2 else group + 8), first // 4, i % 2
    if form.bits == 32:
        first = member * 2 + (8 if i >= 2 else 0)
        return (group if i in (0, 2) else group + 8), first // 2, 0
    first = member * 8 + (32 if i >= 8 else 0)
    return (group if i % 8 < 4 else group + 8), first // 4 + i % 4 // 2, i % 2


def row_of_b(form: Sparse, lane: int, i: int) -> int:
    """The row of b_i; its column is the lane's group."""
    member = lane % 4
    if form.bits == 16:
        return member * 2 + (i & 1) + 8 * (i // 2)
    return member + 4 * i if form.bits == 32 else member * 4 + (i & 3) + 16 * (i // 4)


def place_c(lane: int, i: int) -> tuple[int, int]:
    return (lane >> 2) + (0 if i < 2 else 8), lane % 4 * 2 + (i & 1)


def place_of_metadata(form: Sparse, row: int, chunk: int) -> tuple[int, int]:
    """(lane, lowest bit) of the four bits of a chunk."""
    quad, upper = 4 * (row % 8), int(row >= 8)
    if form.bits == 8 and form.k == 32:
        return quad + 2 * form.selector + upper, 4 * chunk
    if form.bits == 8:
        return quad + (2 if chunk >= 8 else 0) + upper, 4 * (chunk % 8)
    if form.k // form.each == 4:
        return quad + form.selector, 16 * upper + 4 * chunk
    return quad + 2 * form.selector + chunk // 4, 16 * upper + 4 * (chunk % 4)


@dataclass
class Operands:
    """Words of the lanes: a, b, c (32, registers); metadata (32,).   want: D, (16, 8) float64."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    metadata: np.ndarray
    want: np.ndarray


def operands(form: Sparse, what: str = "whole", seed: int = 0, unused: float | None = None) -> Operands:
    """Random operands. unused: a number for rows of B that no row of A uses; then all rows of A have the same pattern.

    Lanes that contribute no metadata have zeros, which mean nothing.
    """
    rng = np.random.default_rng(seed)
    chunks, stored = form.k // form.each, form.each // 2
    pairs = [(0,), (1,)] if form.each == 2 else list(permutations(range(4), 2))
    if form.each == 4 and (form.ordered or form.bits == 8 and form.a.startswith("e")):
        pairs = [pair for pair in pairs if pair[0] < pair[1]]
    pattern = rng.integers(len(pairs), size=(16, chunks))
    if unused is not None:
        pattern[:] = pattern[0]
    compact = encode(numbers(form.a, (16, chunks, stored), what, rng), form.a)
    b = encode(numbers(form.b, (form.k, 8), what, rng), form.b)
    c = encode(numbers(form.c, (16, 8), what, rng), form.c)
    dense, metadata = np.zeros((16, form.k)), np.zeros(32, np.uint32)
    used = np.zeros(form.k, bool)
    for row in range(16):
        for chunk in range(chunks):
            chosen = pairs[pattern[row, chunk]]
            for which, inside in enumerate(chosen):
                dense[row, form.each * chunk + inside] = decode(compact, form.a)[row, chunk, which]
                used[form.each * chunk + inside] = True
            four = chosen[0] | chosen[1] << 2 if form.each == 4 else (0b0100, 0b1110)[chosen[0]]
            lane, bit = place_of_metadata(form, row, chunk)
            metadata[lane] |= np.uint32(four << bit)
    want = dense @ decode(b, form.b) + decode(c, form.c)
    if unused is not None:
        b[~used] = encode(np.full((1, 8), unused), form.b)
    lanes, (na, nb, nc) = range(32), form.counts()
    packed, halves = 32 // form.bits, 2 if form.c == "f16" else 1
    words = {
        "a": [[compact[place_a(form, lane, i)] for i in range(na * packed)] for lane in lanes],
        "b": [[b[row_of_b(form, lane, i), lane >> 2] for i in range(nb * packed)] for lane in lanes],
        "c": [[c[place_c(lane, i)] for i in range(nc * halves)] for lane in lanes],
    }
    return Operands(*(np.array(words[name]).view(np.uint32) for name in "abc"), metadata, want)


def d_of(form: Sparse, words: np.ndarray) -> np.ndarray:
    """D, (16, 8) float64, from the words of the lanes, (32, registers)."""
    bits = words.view(np.uint16) if form.c == "f16" else words
    values, out = decode(np.ascontiguousarray(bits), form.c), np.full((16, 8), np.nan)
    for lane in range(32):
        for i in range(4):
            out[place_c(lane, i)] = values[lane, i]
    return out


# ---- The kernel ----


def source(form: Sparse) -> str:
    """CUDA source of `kernel(a, b, c, metadata, d)`, for one warp. The arrays are those of `Operands`."""
    na, nb, nc = form.counts()
    letter, kind, turn = ("f", "float", "__uint_as_float") if form.c == "f32" else ("r", "unsigned", "")

    def names(first: int, count: int) -> str:
        return "{" + ", ".join(f"%{first + n}" for n in range(count)) + "}"

    text = (
        f"{form.opcode} {names(0, nc)}, {names(nc, na)}, {names(nc + na, nb)}, {names(nc + na + nb, nc)}, "
        f"%{2 * nc + na + nb}, {form.selector:#x};"
    )
    results = ", ".join(f'"={letter}"(r[{n}])' for n in range(nc))
    values = [f'"r"({name}[{count} * lane + {n}])' for name, count in (("a", na), ("b", nb)) for n in range(count)]
    values += [f'"{letter}"({turn}(c[{nc} * lane + {n}]))' for n in range(nc)] + ['"r"(metadata[lane])']
    back = "__float_as_uint(r[n])" if form.c == "f32" else "r[n]"
    return (
        'extern "C" __global__ void kernel(const unsigned* a, const unsigned* b, const unsigned* c, '
        "const unsigned* metadata, unsigned* d) {\n"
        f"  const unsigned lane = threadIdx.x; {kind} r[{nc}];\n"
        f'  asm volatile("{text}" : {results} : {", ".join(values)});\n'
        f"  for (int n = 0; n < {nc}; ++n) d[{nc} * lane + n] = {back};\n}}\n"
    )
