"""Cases of ldmatrix, stmatrix, mma and wmma.

With whole numbers, results have to be equal; with random numbers, the last bits may differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from tools.opcodes.case import HOLDERS, VARIABLE, Case, registers, written
from tools.opcodes.memory import SHARED

# Sums of up to 32 products of normal numbers, accumulated in FP32 in any order and truncated instead of rounded:
# 33 additions, each with an error of at most 2**-22 of a partial sum below 32. FP16 sums are also rounded to FP16.
SUM_F32 = (0.0, 33 * 32 * 2.0**-22)
SUM_F16 = (2.0**-9, 2.0**-8)
# Sums of at most 16 products of float64 and one addend, in any order, with partial sums below 64.
SUM_F64 = (0.0, 17 * 64 * 2.0**-53)


def cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from _matrices()
    yield from _mma()
    yield from _wmma()


def _matrices() -> Iterator[Case]:
    fill = "__shared__ __align__(16) unsigned s[128]; for (int n = 0; n < 4; ++n) s[n * 32 + lane] = "
    row = SHARED.format("s[4 * ((lane * 5 + 3) % 32)]")
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            form = f"sync.aligned.m8n8.x{count}{trans}.shared.b16"
            results = ", ".join(f'"=r"(r[{n}])' for n in range(count))
            body = (
                f"{fill}x0[n * 32 + lane]; __syncwarp(); unsigned r[{count}]; "
                f'asm volatile("ldmatrix.{form} {registers(0, count)}, [%{count}];" '
                f': {results} : "r"({row}) : "memory"); '
                f"for (int n = 0; n < {count}; ++n) y0[{count} * i + n] = r[n];"
            )
            yield written(f"ldmatrix.{form}", body, ("b32:bytes",), ("b32",), words=(128,), per_lane=(count,))
            body = (
                f"{fill}7; __syncwarp(); "
                f'asm volatile("stmatrix.{form} [%0], {registers(1, count)};" '
                f':: "r"({row}), {_values(0, count, "b32")} : "memory"); '
                "__syncwarp(); for (int n = 0; n < 4; ++n) y0[n * 32 + lane] = s[n * 32 + lane];"
            )
            yield written(f"stmatrix.{form}", body, ("b32:bytes",), ("b32",), words=(32 * count,), per_lane=(4,))


def _held(kind: str) -> str:
    """The type of a register that holds elements of `kind`: a pair of 16-bit numbers, four bytes, or one word."""
    return {"f16": "f16x2", "bf16": "bf16x2", "s8": "s8x4", "u8": "u8x4"}.get(kind, kind)


def _values(array: int, count: int, kind: str) -> str:
    """Operands of inline PTX: the `count` words of a thread in an input array."""
    _, letter, turn, _ = HOLDERS[_held(kind)]
    return ", ".join(f'"{letter}"({turn.format(f"x{array}[{count} * i + {n}]")})' for n in range(count))


def _inputs(a: str, b: str, c: str) -> Iterator[tuple[str, tuple[str, str, str], tuple[float, float] | None]]:
    """(name of the values, kinds of the operands a, b and c, tolerance)."""
    if c == "s32":
        yield "bytes", (f"{_held(a)}:bytes", f"{_held(b)}:bytes", "s32"), None
        return
    for name, tolerance in (("whole", None), ("normal", {"f16": SUM_F16, "f32": SUM_F32, "f64": SUM_F64}[c])):
        yield name, tuple(f"{_held(kind)}:{name}" for kind in (a, b, c)), tolerance


def _mma() -> Iterator[Case]:
    forms = [(f"m16n8k{k}", "f16", "f16", c, k // 4, k // 8) for k in (8, 16) for c in ("f16", "f32")]
    forms += [(f"m16n8k{k}", "bf16", "bf16", "f32", k // 4, k // 8) for k in (8, 16)]
    forms += [(f"m16n8k{k}", "tf32", "tf32", "f32", k // 2, k // 4) for k in (4, 8)]
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            forms += [("m8n8k16", a, b, "s32", 1, 1), ("m16n8k16", a, b, "s32", 2, 1), ("m16n8k32", a, b, "s32", 4, 2)]
    forms += [("m8n8k4", "f64", "f64", "f64", 1, 1)]
    forms += [(f"m16n8k{k}", "f64", "f64", "f64", k // 2, k // 4) for k in (4, 8, 16)]
    for shape, a, b, c, *of_factors in forms:
        name = f"mma.sync.aligned.{shape}.row.col.{c}.{a}.{b}.{c}"
        count = 2 if c == "f16" or shape.startswith("m8") else 4
        counts = [*of_factors, count]
        _, letter, _, store = HOLDERS[_held(c)]
        results = ", ".join(f'"={letter}"(r[{n}])' for n in range(count))
        operands = ", ".join(registers(sum([count, *counts][:n]), each) for n, each in enumerate([count, *counts]))
        values = ", ".join(_values(n, each, kind) for n, (each, kind) in enumerate(zip(counts, (a, b, c), strict=True)))
        body = (
            f'{VARIABLE[letter]} r[{count}]; asm volatile("{name} {operands};" : {results} : {values}); '
            f"for (int n = 0; n < {count}; ++n) y0[{count} * i + n] = {store.format('r[n]')};"
        )
        words = tuple(32 * each for each in counts)
        for what, ins, tolerance in _inputs(a, b, c):
            yield written(f"{name} {what}", body, ins, (_held(c),), tolerance=tolerance, words=words, per_lane=(count,))


# shape -> ((m, n, k), registers of A and B with bf16, registers of A and B with 8-bit integers)
_WMMA = {
    "m16n16k16": ((16, 16, 16), (4, 4), (2, 2)),
    "m32n8k16": ((32, 8, 16), (8, 2), (4, 1)),
    "m8n32k16": ((8, 32, 16), (2, 8), (1, 4)),
}


def _wmma() -> Iterator[Case]:
    """Cases that load A, B and C, multiply and store D, because the layout of the fragments is not documented."""
    for shape, (extents, brain, byte) in _WMMA.items():
        for c in ("f16", "f32"):
            yield from _wmma_case(shape, extents, "f16", c, (8, 8), 4 if c == "f16" else 8)
        yield from _wmma_case(shape, extents, "bf16", "f32", brain, 8)
        for kind in ("s8", "u8"):
            yield from _wmma_case(shape, extents, kind, "s32", byte, 8)
    yield from _wmma_case("m16n16k8", (16, 16, 8), "tf32", "f32", (4, 4), 8)


def _wmma_case(shape, extents, kind, c, counts, count_c) -> Iterator[Case]:
    m, n, k = extents
    each = {"f16": 2, "bf16": 2, "s8": 4, "u8": 4, "tf32": 1}[kind]
    pack = 2 if c == "f16" else 1
    kinds = f"{c}.{c}" if kind == "f16" else f"{c}.{kind}.{kind}.{c}"
    letter_c = HOLDERS[_held(c)][1]
    for la, lb in (("row", "col"), ("col", "row")):
        steps, operands = [], []
        for matrix, layout, of, count, array, stride in (
            ("a", la, kind, counts[0], "x0", k if la == "row" else m),
            ("b", lb, kind, counts[1], "x1", k if lb == "col" else n),
            ("c", "row", c, count_c, "x2", n),
        ):
            letter = letter_c if matrix == "c" else "r"
            loads = ", ".join(f'"={letter}"({matrix}[{r}])' for r in range(count))
            operands += [f'"{letter}"({matrix}[{r}])' for r in range(count)]
            steps.append(
                f"{VARIABLE[letter]} {matrix}[{count}]; "
                f'asm volatile("wmma.load.{matrix}.sync.aligned.{layout}.{shape}.global.{of} {registers(0, count)}, '
                f'[%{count}], %{count + 1};" : {loads} : "l"({array}), "r"({stride}) : "memory");'
            )
        outs = ", ".join(f'"={letter_c}"(d[{r}])' for r in range(count_c))
        sizes = [count_c, *counts, count_c]
        vectors = ", ".join(registers(sum(sizes[:r]), size) for r, size in enumerate(sizes))
        steps.append(
            f"{VARIABLE[letter_c]} d[{count_c}]; "
            f'asm volatile("wmma.mma.sync.aligned.{la}.{lb}.{shape}.{kinds} {vectors};" '
            f": {outs} : {', '.join(operands)});"
        )
        values = ", ".join(f'"{letter_c}"(d[{r}])' for r in range(count_c))
        steps.append(
            f'asm volatile("wmma.store.d.sync.aligned.row.{shape}.global.{c} [%0], {registers(1, count_c)}, '
            f'%{count_c + 1};" :: "l"(y0), {values}, "r"({n}) : "memory");'
        )
        words = (m * k // each, k * n // each, m * n // pack)
        for what, ins, tolerance in _inputs(kind, kind, c):
            if la == "row" or what != "normal":
                yield written(
                    f"wmma.{la}.{lb}.{shape}.{kinds} {what}",
                    " ".join(steps),
                    ins,
                    (_held(c),),
                    tolerance=tolerance,
                    words=words,
                    per_lane=(m * n // pack // 32,),
                )
