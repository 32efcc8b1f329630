"""Cases of ldmatrix, stmatrix, mma and wmma.

With whole numbers, results have to be equal; with random numbers, the last bits may differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from tools.opcodes.case import Case
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
    yield from _mma_f64()
    yield from _wmma()


def _matrices() -> Iterator[Case]:
    fill = "__shared__ __align__(16) unsigned s[128]; for (int n = 0; n < 4; ++n) s[n * 32 + lane] = "
    for count in (1, 2, 4):
        row = SHARED.format("s[4 * ((lane * 5 + 3) % 32)]")
        for trans in ("", ".trans"):
            form = f"sync.aligned.m8n8.x{count}{trans}.shared.b16"
            names = ", ".join(f"%{n}" for n in range(count))
            results = ", ".join(f'"=r"(r[{n}])' for n in range(count))
            body = (
                f"{fill}x0[n * 32 + lane]; __syncwarp(); unsigned r[{count}]; "
                f'asm volatile("ldmatrix.{form} {{{names}}}, [%{count}];" : {results} : "r"({row}) : "memory"); '
                f"for (int n = 0; n < {count}; ++n) y0[{count} * i + n] = r[n];"
            )
            yield Case(
                f"ldmatrix.{form}", "", ("b32:bytes",), ("b32",), body=body, lanes=32, words=(128,), per_lane=(count,)
            )
            names = ", ".join(f"%{n + 1}" for n in range(count))
            values = ", ".join(f'"r"(x0[{count} * i + {n}])' for n in range(count))
            body = (
                f"{fill}7; __syncwarp(); "
                f'asm volatile("stmatrix.{form} [%0], {{{names}}};" :: "r"({row}), {values} : "memory"); '
                "__syncwarp(); for (int n = 0; n < 4; ++n) y0[n * 32 + lane] = s[n * 32 + lane];"
            )
            yield Case(
                f"stmatrix.{form}",
                "",
                ("b32:bytes",),
                ("b32",),
                body=body,
                lanes=32,
                words=(32 * count,),
                per_lane=(4,),
            )


def _letter(kind: str) -> str:
    return "f" if kind == "f32" else "r"


def _names(first: int, count: int) -> str:
    return "{" + ", ".join(f"%{first + n}" for n in range(count)) + "}"


def _values(array: int, count: int, kind: str) -> str:
    turn = "__uint_as_float({})" if kind == "f32" else "{}"
    return ", ".join(f'"{_letter(kind)}"({turn.format(f"x{array}[{count} * i + {n}]")})' for n in range(count))


def _held(kind: str) -> str:
    """The type of a register that holds elements of `kind`: a pair of 16-bit numbers, four bytes, or one word."""
    return {"f16": "f16x2", "bf16": "bf16x2", "s8": "s8x4", "u8": "u8x4"}.get(kind, kind)


def _inputs(a: str, b: str, c: str) -> Iterator[tuple[str, tuple[str, str, str], tuple[float, float] | None]]:
    """(name of the values, kinds of the operands a, b and c, tolerance)."""
    if c == "s32":
        yield "bytes", (f"{_held(a)}:bytes", f"{_held(b)}:bytes", "s32"), None
        return
    for name in ("whole", "normal"):
        tolerance = None if name == "whole" else SUM_F16 if c == "f16" else SUM_F32
        yield name, tuple(f"{_held(kind)}:{name}" for kind in (a, b, c)), tolerance


def _mma() -> Iterator[Case]:
    forms = [(f"m16n8k{k}", "f16", "f16", c, k // 4, k // 8) for k in (8, 16) for c in ("f16", "f32")]
    forms += [(f"m16n8k{k}", "bf16", "bf16", "f32", k // 4, k // 8) for k in (8, 16)]
    forms += [(f"m16n8k{k}", "tf32", "tf32", "f32", k // 2, k // 4) for k in (4, 8)]
    for a in ("s8", "u8"):
        for b in ("s8", "u8"):
            forms += [("m8n8k16", a, b, "s32", 1, 1), ("m16n8k16", a, b, "s32", 2, 1), ("m16n8k32", a, b, "s32", 4, 2)]
    for shape, a, b, c, count_a, count_b in forms:
        name = f"mma.sync.aligned.{shape}.row.col.{c}.{a}.{b}.{c}"
        count = 2 if c == "f16" or shape == "m8n8k16" else 4
        for what, ins, tolerance in _inputs(a, b, c):
            results = ", ".join(f'"={_letter(c)}"(r[{n}])' for n in range(count))
            at = [0, count, count + count_a, count + count_a + count_b]
            text = (
                f"{name} {_names(at[0], count)}, {_names(at[1], count_a)}, {_names(at[2], count_b)}, "
                f"{_names(at[3], count)};"
            )
            store = "__float_as_uint(r[n])" if c == "f32" else "r[n]"
            body = (
                f'{"float" if c == "f32" else "unsigned"} r[{count}]; asm volatile("{text}" : {results} : '
                f"{_values(0, count_a, a)}, {_values(1, count_b, b)}, {_values(2, count, c)}); "
                f"for (int n = 0; n < {count}; ++n) y0[{count} * i + n] = {store};"
            )
            yield Case(
                f"{name} {what}",
                "",
                ins,
                (_held(c),),
                tolerance,
                body=body,
                lanes=32,
                words=(32 * count_a, 32 * count_b, 32 * count),
                per_lane=(count,),
            )


def _mma_f64() -> Iterator[Case]:
    """mma on f64, for every shape."""
    for shape, counts in (
        ("m8n8k4", (1, 1, 2)),
        ("m16n8k4", (2, 1, 4)),
        ("m16n8k8", (4, 2, 4)),
        ("m16n8k16", (8, 4, 4)),
    ):
        name = f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64"
        results = counts[2]
        first = [results, results + counts[0], results + counts[0] + counts[1]]
        operands = ", ".join(_names(at, count) for at, count in zip([0, *first], [results, *counts], strict=True))
        outs = ", ".join(f'"=d"(r[{n}])' for n in range(results))
        ins = ", ".join(
            f'"d"(__longlong_as_double(x{array}[{count} * i + {n}]))'
            for array, count in enumerate(counts)
            for n in range(count)
        )
        body = (
            f'double r[{results}]; asm volatile("{name} {operands};" : {outs} : {ins}); '
            f"for (int n = 0; n < {results}; ++n) y0[{results} * i + n] = __double_as_longlong(r[n]);"
        )
        for what in ("whole", "normal"):
            yield Case(
                f"{name} {what}",
                "",
                (f"f64:{what}",) * 3,
                ("f64",),
                None if what == "whole" else SUM_F64,
                body=body,
                lanes=32,
                words=tuple(32 * count for count in counts),
                per_lane=(results,),
            )


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
    float_c = c == "f32"
    for layouts in ("row.col", "col.row"):
        la, lb = layouts.split(".")
        for what, ins, tolerance in _inputs(kind, kind, c):
            if layouts == "col.row" and what == "normal":
                continue
            steps = []
            for matrix, layout, count, array, stride in (
                ("a", la, counts[0], "x0", k if la == "row" else m),
                ("b", lb, counts[1], "x1", k if lb == "col" else n),
                ("c", "row", count_c, "x2", n),
            ):
                letter = "f" if matrix == "c" and float_c else "r"
                loads = ", ".join(f'"={letter}"({matrix}[{r}])' for r in range(count))
                of = c if matrix == "c" else kind
                steps.append(
                    f"{'float' if letter == 'f' else 'unsigned'} {matrix}[{count}]; "
                    f'asm volatile("wmma.load.{matrix}.sync.aligned.{layout}.{shape}.global.{of} '
                    f"{_names(0, count)}, "
                    f'[%{count}], %{count + 1};" : {loads} : "l"({array}), "r"({stride}) : "memory");'
                )
            letter = "f" if float_c else "r"
            outs = ", ".join(f'"={letter}"(d[{r}])' for r in range(count_c))
            operands = ", ".join(
                [f'"r"(a[{r}])' for r in range(counts[0])]
                + [f'"r"(b[{r}])' for r in range(counts[1])]
                + [f'"{letter}"(c[{r}])' for r in range(count_c)]
            )
            first_b = count_c + counts[0]
            steps.append(
                f"{'float' if float_c else 'unsigned'} d[{count_c}]; "
                f'asm volatile("wmma.mma.sync.aligned.{layouts}.{shape}.{kinds} {_names(0, count_c)}, '
                f"{_names(count_c, counts[0])}, {_names(first_b, counts[1])}, "
                f"{_names(first_b + counts[1], count_c)};"
                f'" : {outs} : {operands});'
            )
            values = ", ".join(f'"{letter}"(d[{r}])' for r in range(count_c))
            steps.append(
                f'asm volatile("wmma.store.d.sync.aligned.row.{shape}.global.{c} [%0], {_names(1, count_c)}, '
                f'%{count_c + 1};" :: "l"(y0), {values}, "r"({n}) : "memory");'
            )
            yield Case(
                f"wmma.{layouts}.{shape}.{kinds} {what}",
                "",
                ins,
                (_held(c),),
                tolerance,
                body=" ".join(steps),
                lanes=32,
                words=(m * k // each, k * n // each, m * n // pack),
                per_lane=(m * n // pack // 32,),
            )
