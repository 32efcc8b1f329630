"""The instructions that are compared, and a kernel for each that multiplies many small tiles."""

from __future__ import annotations

from typing import NamedTuple

BYTES = {"f16": 2, "bf16": 2, "tf32": 4, "e4m3": 1, "e5m2": 1, "s8": 1}
_FP8 = ("e4m3", "e5m2")
_REGISTERS_OF_A = (8, 24, 112, 192)  # N of the wgmma whose A is in registers; in the others it is in shared memory


class Form(NamedTuple):
    """One instruction: "mma", "mma_sp" or "wgmma", its extents, the types of A and B, and the type of C and D."""

    instruction: str
    m: int
    n: int
    k: int
    a: str
    b: str
    out: str

    @property
    def name(self) -> str:
        return f"{self.instruction}_m{self.m}n{self.n}k{self.k}_{self.out}_{self.a}_{self.b}"

    @property
    def stored(self) -> int:
        """Elements of a row of A that are stored."""
        return self.k // 2 if self.instruction == "mma_sp" else self.k

    @property
    def chosen(self) -> list[int]:
        """The rows of B that are multiplied: with the metadata 0x44444444 the first half of each four (TF32: two)."""
        group = (2 if self.a == "tf32" else 4) if self.instruction == "mma_sp" else 1
        return [k for k in range(self.k) if k % group < max(group // 2, 1)]

    @property
    def threads(self) -> int:
        return 128 if self.instruction == "wgmma" else 32


def all_forms() -> list[Form]:
    """The forms of the catalogue's kernels, and those beside them."""
    warp = [("f16", "f16", out, k) for out in ("f32", "f16") for k in (8, 16)]
    warp += [("bf16", "bf16", "f32", k) for k in (8, 16)] + [("tf32", "tf32", "f32", k) for k in (4, 8)]
    warp += [(a, b, out, 32) for a in _FP8 for b in _FP8 for out in ("f32", "f16")] + [("s8", "s8", "s32", 32)]
    group = {
        ("bf16", "bf16", "f32", 16): (8, 16, 24, 32, 64, 112, 128, 192, 256),
        ("f16", "f16", "f32", 16): (8, 64, 128, 256),
        ("f16", "f16", "f16", 16): (8, 64, 256),
        ("tf32", "tf32", "f32", 8): (8, 64, 128, 256),
        ("e4m3", "e4m3", "f32", 32): (8, 32, 64, 96, 128, 160, 192, 256),
        ("s8", "s8", "s32", 32): (64,),
    }
    for a in _FP8:
        for b in _FP8:
            group.setdefault((a, b, "f32", 32), (24, 128))
            group.setdefault((a, b, "f16", 32), (8, 256))
    forms = [Form("mma", 16, 8, k, a, b, out) for a, b, out, k in warp]
    sparse = [("f16", out, k) for out in ("f32", "f16") for k in (16, 32)] + [("bf16", "f32", k) for k in (16, 32)]
    sparse += [("tf32", "f32", k) for k in (8, 16)] + [("e4m3", "f32", 64), ("e5m2", "f32", 64)]
    forms += [Form("mma_sp", 16, 8, k, a, a, out) for a, out, k in sparse]
    return forms + [Form("wgmma", 64, n, k, a, b, out) for (a, b, out, k), columns in group.items() for n in columns]


def source(form: Form) -> str:
    """The text of the kernel NAME(a, b, c, d, zero): tile t of D is tile t of C plus A · B, or A · B where zero[t].

    a: (tiles, M, K), for sparse products K / 2; b: (tiles, N, K), c, d: (tiles, M, N).
    """
    return _warpgroup(form) if form.instruction == "wgmma" else _warp(form)


_HEAD = """extern "C" __global__ void {name}(
    const unsigned* a, const unsigned* b, const {word}* c, {word}* d, const int* zero) {{
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4, t = lane % 4;
    size_t tile = blockIdx.x;
    a += tile * {m} * {left};
    b += tile * {n} * {right};
    c += tile * {m} * {columns};
    d += tile * {m} * {columns};
"""


def _head(form: Form) -> str:
    columns = form.n // 2 if form.out == "f16" else form.n
    word = {"f32": "float", "f16": "unsigned", "s32": "int"}[form.out]
    left, right = _words(form)
    return _HEAD.format(name=form.name, word=word, m=form.m, n=form.n, left=left, right=right, columns=columns)


def _words(form: Form) -> tuple[int, int]:
    """Words of 4 bytes of a row of A and of a column of B."""
    return form.stored * BYTES[form.a] // 4, form.k * BYTES[form.b] // 4


def _places(form: Form) -> list[str]:
    """The index in C of each register of the accumulators."""
    rows = ["warp * 16 + g", "warp * 16 + g + 8"]
    if form.out == "f16":
        return [f"({row}) * {form.n // 2} + {4 * j} + t" for j in range(form.n // 8) for row in rows]
    return [f"({row}) * {form.n} + {8 * j + e} + 2 * t" for j in range(form.n // 8) for row in rows for e in (0, 1)]


def _registers_of_a(form: Form) -> list[str]:
    words = _words(form)[0]
    return [f"a[(warp * 16 + g + {row}) * {words} + t + {k}]" for k in range(0, words, 4) for row in (0, 8)]


def _numbered(first: int, count: int) -> str:
    return "{" + ", ".join(f"%{first + i}" for i in range(count)) + "}"


def _warp(form: Form) -> str:
    places, left = _places(form), _registers_of_a(form)
    words = _words(form)[1]
    right = [f"b[g * {words} + t + {k}]" for k in range(0, words, 4)]
    sums, letter = len(places), {"f32": "f", "f16": "r", "s32": "r"}[form.out]
    word = {"f32": "float", "f16": "unsigned", "s32": "int"}[form.out]
    types = f"{form.out}.{form.a}.{form.b}.{form.out}"
    sparse = form.instruction == "mma_sp"
    text = f"mma{'.sp::ordered_metadata' * sparse}.sync.aligned.m16n8k{form.k}.row.col.{types} {_numbered(0, sums)}, "
    text += f"{_numbered(sums, len(left))}, {_numbered(sums + len(left), len(right))}, {_numbered(0, sums)}"
    text += f", %{sums + len(left) + len(right)}, 0;" if sparse else ";"
    outputs = ", ".join(f'"+{letter}"(x[{i}])' for i in range(sums))
    inputs = ", ".join(f'"r"({value})' for value in left + right + ["0x44444444"] * sparse)
    loads = "".join(f"    x[{i}] = zero[tile] ? {word}(0) : c[{place}];\n" for i, place in enumerate(places))
    stores = "".join(f"    d[{place}] = x[{i}];\n" for i, place in enumerate(places))
    return (
        f'{_head(form)}    {word} x[{sums}];\n{loads}    asm volatile("{text}" : {outputs} : {inputs});\n{stores}}}\n'
    )


_SHARED = """    __shared__ __align__(128) unsigned sa[64 * 8], sb[{n} * 8];
    for (unsigned i = threadIdx.x; i < 64 * 8; i += 128)
        sa[i / 64 * 64 + i % 8 / 4 * 32 + i % 64 / 8 * 4 + i % 4] = a[i];
    for (unsigned i = threadIdx.x; i < {n} * 8; i += 128)
        sb[i / 64 * 64 + i % 8 / 4 * 32 + i % 64 / 8 * 4 + i % 4] = b[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long steps = 128ull >> 4 << 16 | 256ull >> 4 << 32;
    unsigned long long da = steps | (unsigned)__cvta_generic_to_shared(sa) >> 4;
    unsigned long long db = steps | (unsigned)__cvta_generic_to_shared(sb) >> 4;
"""


def _warpgroup(form: Form) -> str:
    places = _places(form)
    sums, letter = len(places), {"f32": "f", "f16": "r", "s32": "r"}[form.out]
    word = {"f32": "float", "f16": "unsigned", "s32": "int"}[form.out]
    inside = form.n not in _REGISTERS_OF_A
    left = ["da"] if inside else _registers_of_a(form)
    at = sums + len(left)
    turns = (", 0, 0" if inside else ", 0") if BYTES[form.a] == 2 else ""
    scales = "" if form.out == "s32" else ", 1, 1"
    a = f"%{sums}" if inside else _numbered(sums, len(left))
    text = (
        f"{{ .reg .pred p; setp.eq.s32 p, %{at + 1}, 0; wgmma.mma_async.sync.aligned.m64n{form.n}k{form.k}."
        f"{form.out}.{form.a}.{form.b} {_numbered(0, sums)}, {a}, %{at}, p{scales}{turns}; }}"
    )
    outputs = ", ".join(f'"+{letter}"(x[{i}])' for i in range(sums))
    inputs = ", ".join(f'"{"l" if inside else "r"}"({value})' for value in left)
    loads = "".join(f"    x[{i}] = c[{place}];\n" for i, place in enumerate(places))
    stores = "".join(f"    d[{place}] = x[{i}];\n" for i, place in enumerate(places))
    return (
        f"{_head(form)}{_SHARED.format(n=form.n)}    {word} x[{sums}];\n{loads}"
        '    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");\n'
        f'    asm volatile("{text}" : {outputs} : {inputs}, "l"(db), "r"(zero[tile]));\n'
        '    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");\n'
        f'    asm volatile("wgmma.wait_group.sync.aligned 0;" : {outputs} :: "memory");\n{stores}}}\n'
    )
