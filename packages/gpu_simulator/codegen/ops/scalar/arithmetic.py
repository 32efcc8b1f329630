"""add, sub, mul, mad, fma, div, min, max, abs, neg …: opcodes for integers and floats. sqrt …: functions of floats."""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.exact import SMALL, near_the_ends, repaired
from gpu_simulator.arithmetic.rounding import canonical, directed_f64, fma_f64, sum_to_odd, two_sum, with_mode
from gpu_simulator.codegen.ops.scalar import half, integer
from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.ptx.ir import Register
from gpu_simulator.runtime import runtime

ROUNDINGS = ("rn", "rz", "rm", "rp")


def rounding(i) -> str:
    """The rounding mode of an instruction; "rn" (to nearest even) if it has none."""
    return next((p for p in i.parts if p in ROUNDINGS), "rn")


def finish(e, i, expression: str) -> str:
    """Apply .ftz and .sat to a float expression; without .sat, write NaN as the hardware does."""
    if "ftz" in i.parts and "f32" in i.parts:
        expression = f"flush({expression})"
    if "sat" in i.parts:
        return f"saturate({expression})"
    return f"canonical({expression})" if "f32" in i.parts and shows_bits(e, i) else expression


# What takes a float32 as a number, and gives the same for each NaN.
_NUMERIC = {
    "add", "sub", "mul", "mad", "fma", "div", "min", "max", "abs", "neg", "sqrt", "rcp", "rsqrt", "sin", "cos", "lg2",
    "ex2", "tanh", "setp", "set", "testp",
}  # fmt: skip
_NARROWER = {"f16", "bf16", "f16x2", "bf16x2"}


def shows_bits(e, i) -> bool:
    """Whether something else than arithmetic reads the result of an instruction, such as a store or a move."""
    register, sites = i.operands[0], e.program.sites
    readers = (sites[site] for site in e.program.readers.get(getattr(register, "index", -1), ()))
    return type(register) is not Register or not all(
        item.parts[-1] == "f32" and (item.family in _NUMERIC or (item.family == "cvt" and _NARROWER & {*item.parts}))
        for item in readers
    )


def sources(e, i, kind: str) -> list[str]:
    """The expressions of an instruction's sources as `kind`, with subnormals flushed if it has .ftz."""
    values = [e.read(o, kind) for o in i.operands[1:]]
    return [f"flush({v})" for v in values] if "ftz" in i.parts and kind == "f32" else values


@runtime
def saturate(x):
    """Clamp to [0, 1]; NaN becomes 0."""
    one = x.dtype.type(1)
    return np.where(np.isnan(x), x.dtype.type(0), np.clip(x, x.dtype.type(0), one)) + x.dtype.type(0)


@runtime
def add_mode(a, b, mode):
    """a + b with a directed rounding. If rounded down ("rm"), the sum of opposite numbers is -0."""
    if mode == "rm":
        out = add_mode(a, b, "down")
        zero = (out == 0) & (np.signbit(a) | np.signbit(b))
        return np.where(zero, out.dtype.type(-0.0), out)
    mode = "rm" if mode == "down" else mode
    if a.dtype == np.float64:
        exact, error = two_sum(a, b)
        overflowed = np.isinf(exact) & np.isfinite(a) & np.isfinite(b)
        return repaired(directed_f64(exact, error, mode), overflowed, (a, b), lambda x, y: x + y, mode)
    return with_mode(sum_to_odd(a.astype(np.float64), b.astype(np.float64)), np.float32, mode)


@runtime
def mul_mode(a, b, mode):
    """a · b with a directed rounding."""
    if a.dtype == np.float64:
        product = a * b
        out = directed_f64(product, fma_f64(a, b, -product), mode)
        return repaired(out, near_the_ends(product, a, b), (a, b), lambda x, y: x * y, mode)
    return with_mode(a.astype(np.float64) * b.astype(np.float64), np.float32, mode)


@runtime
def div_mode(a, b, mode):
    """a / b rounded in `mode`. float32 uses float64, whose quotient is never midway between two float32 values."""
    if a.dtype == np.float64:
        q = a / b
        if mode == "rn":
            return q
        rest = -fma_f64(q, b, -a)
        out = directed_f64(q, np.where(b < 0, -rest, rest), mode)
        hard = near_the_ends(q, a, b) | (near_the_ends(a, a, b) & np.isfinite(q))
        return repaired(out, hard, (a, b), lambda x, y: x / y, mode)
    return with_mode(a.astype(np.float64) / b.astype(np.float64), np.float32, mode)


@runtime
def div_approx(a, b):
    """a / b; where 2^126 < |b| < 2^128, a · 0, as PTX ISA says of div.approx.f32: 0, or NaN if a is infinite."""
    size = np.abs(b)
    far = (size > np.float32(2.0**126)) & (size < np.float32(np.inf))
    return np.where(far, a * np.copysign(np.float32(0), b), a / b) if far.any() else a / b


def _float(e, i, kind: str):
    """Generate the f32 and f64 forms of the opcodes of `arithmetic`."""
    family, mode = i.family, rounding(i)
    e.allow("ftz", "sat", "approx", "full", "NaN", "xorsign", "abs", *ROUNDINGS)
    v = sources(e, i, kind)
    crossed = "xorsign" in i.parts
    if crossed != ("abs" in i.parts[1:]) or (crossed and (len(v) != 2 or kind != "f32")):
        raise e.unsupported("this use of .abs and .xorsign")
    if family in ("add", "sub"):
        if mode == "rn":
            x = f"({v[0]} {'+' if family == 'add' else '-'} {v[1]})"
        else:
            x = f"add_mode({v[0]}, {v[1] if family == 'add' else f'negated({v[1]})'}, {mode!r})"
    elif family == "mul":
        x = f"({v[0]} * {v[1]})" if mode == "rn" else f"mul_mode({v[0]}, {v[1]}, {mode!r})"
    elif family in ("fma", "mad"):
        x = f"fma_{kind}({v[0]}, {v[1]}, {v[2]}" + (f", {mode!r})" if mode != "rn" else ")")
    elif family == "div" and "approx" in i.parts:
        x = f"div_approx({v[0]}, {v[1]})"
    elif family == "div":
        x = f"({v[0]} / {v[1]})" if mode == "rn" else f"div_mode({v[0]}, {v[1]}, {mode!r})"
    elif family in ("min", "max"):
        which = f"nan_{family}" if "NaN" in i.parts else f"float_{family}"
        x = v[0]
        for other in v[1:]:
            x = f"{which}({x}, {other})" if not crossed else f"xorsign({which}, {x}, {other})"
    elif family == "abs":
        x = f"np.abs({v[0]})"
    elif family == "neg":
        x = f"negated({v[0]})" if kind == "f64" else f"(-{v[0]})"
    else:
        raise e.unsupported()
    e.write(i.operands[0], finish(e, i, x), kind)


@runtime
def negated(x):
    """The opposite numbers. A NaN stays as it is; an H200 does so with a float64."""
    out = np.where(np.isnan(x), x, -x)
    return out if out.ndim else out[()]


@runtime
def xorsign(choose, a, b):
    """min or max of |a| and |b|, with a minus where just one of a and b has one."""
    out = np.copysign(choose(np.abs(a), np.abs(b)), np.where(np.signbit(a) ^ np.signbit(b), a.dtype.type(-1), 1))
    return out.astype(a.dtype)


@runtime
def float_min(a, b):
    """The smaller number, with -0 below +0; NaN only if both are NaN."""
    return _ordered(a, b, _number(a, b, np.fmin(a, b)), True)


@runtime
def float_max(a, b):
    """The larger number, with -0 below +0; NaN only if both are NaN."""
    return _ordered(a, b, _number(a, b, np.fmax(a, b)), False)


@runtime
def nan_min(a, b):
    """The smaller number, with -0 below +0; NaN if either is NaN."""
    return _ordered(a, b, np.minimum(a, b), True)


@runtime
def nan_max(a, b):
    """The larger number, with -0 below +0; NaN if either is NaN."""
    return _ordered(a, b, np.maximum(a, b), False)


def _number(a, b, out):
    """The results, with the number where one operand is NaN, signalling or not, as libraries of C do not promise."""
    bad = np.isnan(out)
    if not np.any(bad):
        return out
    out = np.where(bad, np.where(np.isnan(a), b, a), out)
    return out if out.ndim else out[()]


def _ordered(a, b, out, smaller: bool):
    tie = (a == b) & (np.signbit(a) != np.signbit(b))
    if not np.any(tie):
        return canonical(out)
    fixed = np.where(tie, out.dtype.type(-0.0 if smaller else 0.0), out)
    return canonical(fixed if fixed.ndim else fixed[()])


_WHOLE, _HALF = "u16 s16 u32 s32 u64 s64", "f16 f16x2 bf16 bf16x2"
_ROUNDED = "f32 f64 (rn rz rm rp)"


@op(
    forms={
        "add": f"{_WHOLE}; {_ROUNDED}; {_HALF}; f32x2; sat, ftz",
        "sub": f"{_WHOLE}; {_ROUNDED}; {_HALF}; f32x2; sat, ftz",
        "mul": f"lo, hi, wide: {_WHOLE}; {_ROUNDED}; {_HALF}; f32x2; sat, ftz",
        "mad": f"lo, hi, wide: {_WHOLE}; {_ROUNDED}; sat, ftz",
        "fma": f"{_ROUNDED}; {_HALF}; f32x2; sat, ftz, relu",
        "div": f"{_WHOLE}; {_ROUNDED}; full, approx, ftz",
        "min": f"{_WHOLE}; f32 f64; {_HALF}; NaN, relu, ftz, xorsign.abs of f32",
        "max": f"{_WHOLE}; f32 f64; {_HALF}; NaN, relu, ftz, xorsign.abs of f32",
        "abs": f"s16 s32 s64; f32 f64; {_HALF}; ftz",
        "neg": f"s16 s32 s64; f32 f64; {_HALF}; ftz",
    },
)
def arithmetic(e, i):
    """Generate arithmetic for integers, floats or half floats, by the instruction's type."""
    kind = types_of(i.parts)[-1]
    if kind in ("f32", "f64"):
        narrow = [t for t in types_of(i.parts) if t in ("f16", "bf16")]
        if narrow:
            raise e.unsupported("mixed precision")
        _float(e, i, kind)
    elif kind in ("f16", "f16x2", "bf16", "bf16x2"):
        half.emit(e, i, kind)
    elif kind == "f32x2":
        _pairs(e, i)
    else:
        integer.emit(e, i, kind)


def _pairs(e, i):
    """Generate add, mul, fma on the two float32 in each 64-bit register."""
    e.allow("ftz", *ROUNDINGS)
    if rounding(i) != "rn":
        raise e.unsupported("a directed rounding of f32x2")
    v = [f"parts({e.read(o, 'b64')}, f4)" for o in i.operands[1:]]
    if i.family == "fma":
        x = f"canonical(fma_f32({v[0]}, {v[1]}, {v[2]}))"
    else:
        x = f"canonical({v[0]} {dict(add='+', sub='-', mul='*')[i.family]} {v[1]})"
    e.write(i.operands[0], f"whole({x}, u8)", "b64")


@runtime
def ex2(x):
    """2 to the power of x, computed in float64 and rounded."""
    return np.exp2(x.astype(np.float64)).astype(x.dtype)


@runtime
def tanh_(x):
    """tanh, computed in float64 and rounded."""
    return np.tanh(x.astype(np.float64)).astype(x.dtype)


_UNARY = {
    "sqrt": "np.sqrt({})",
    "rcp": "(one / {})",
    "rsqrt": "(one / np.sqrt({}.astype(f8)))",
    "sin": "np.sin({})",
    "cos": "np.cos({})",
    "lg2": "np.log2({})",
    "ex2": "np.exp2({})",
    "tanh": "np.tanh({})",
}


@op(
    forms={
        "sqrt": f"{_ROUNDED}; approx, ftz",
        "rcp": f"{_ROUNDED}; approx, ftz",
        **dict.fromkeys(("rsqrt", "sin", "cos", "lg2"), "f32 f64; approx, ftz; computed in float64 and rounded"),
        **dict.fromkeys(("ex2", "tanh"), f"f32 f64; {_HALF}; approx, ftz; computed in float64 and rounded"),
    },
)
def unary(e, i):
    """Functions of one float. Hardware approximations differ from these in the last bits."""
    kind = types_of(i.parts)[-1]
    mode = rounding(i)
    e.allow("ftz", "approx", *ROUNDINGS)
    if kind in ("f16", "bf16", "f16x2", "bf16x2"):
        half.unary(e, i, kind, _UNARY[i.family].format("x"))
        return
    value = sources(e, i, kind)[0]
    flushed = kind == "f64" and "ftz" in i.parts
    value = f"flush({value})" if flushed else value
    one = e.constant(np.float64(1))
    e.line(f"one = {one}")
    e.line(f"x = {value}.astype(f8)")
    dtype = "f4" if kind == "f32" else "f8"
    x = _UNARY[i.family].format("x")
    if mode == "rn":
        x = f"{x}.astype({dtype})"
    else:
        x = f"directed({x}, {mode!r})" if kind == "f32" else f"directed_{i.family}(x, {mode!r})"
    if flushed:
        x = f"upper_half(flush({x}))"
    e.write(i.operands[0], finish(e, i, x), kind)


@runtime
def upper_half(x):
    """float64 results of rcp.approx.ftz and rsqrt.approx.ftz, whose lower 32 bits are zeros; each NaN is the same."""
    bits = np.where(np.isnan(x), np.uint64(0x7FFFFFFF << 32), x.view(np.uint64) & np.uint64(0xFFFFFFFF << 32))
    return bits.view(np.float64) if bits.ndim else bits[()].view(np.float64)


@runtime
def directed_sqrt(x, mode):
    """Square root of float64 with a directed rounding, which the sign of the remainder determines."""
    small = x < SMALL
    x = x * np.where(small, 2.0**200, 1.0)
    root = np.sqrt(x)
    return directed_f64(root, fma_f64(-root, root, x), mode) * np.where(small, 2.0**-100, 1.0)


@runtime
def directed_rcp(x, mode):
    """1 / x of float64 with a directed rounding."""
    return div_mode(np.ones_like(x), x, mode)


@runtime
def directed(x, mode):
    """float64 values rounded to float32 in a given mode."""
    return with_mode(x, np.float32, mode)


@op("copysign", "testp", forms="f32, f64")
def signs(e, i):
    """copysign, testp."""
    kind = types_of(i.parts)[-1]
    if i.family == "copysign":
        a, b = (e.read(o, kind) for o in i.operands[1:])
        e.write(i.operands[0], f"np.copysign({b}, {a})", kind)
        return
    x = e.read(i.operands[1], kind)
    tiny = "np.finfo({}.dtype).tiny".format("x")
    tests = {
        "finite": "np.isfinite(x)",
        "infinite": "np.isinf(x)",
        "notanumber": "np.isnan(x)",
        "number": "~np.isnan(x)",
        "normal": f"(np.isfinite(x) & ((x == 0) | (np.abs(x) >= {tiny})))",
        "subnormal": f"((x != 0) & (np.abs(x) < {tiny}))",
    }
    e.line(f"x = {x}")
    e.write(i.operands[0], tests[i.parts[1]], "pred")
