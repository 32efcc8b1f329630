"""Integer arithmetic. `arithmetic` calls `emit` for opcodes that floats have too; the others are registered here."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.ptx.types import CODES, SIZE
from gpu_simulator.runtime import runtime


def wide_kind(kind: str) -> str:
    """The type of twice the width: u16 → u32."""
    return kind[0] + str(2 * int(kind[1:]))


def multiplied(e, i, kind: str) -> tuple[str, str]:
    """(expression, type) of the product of the first two sources, by .lo, .hi or .wide."""
    a, b = i.operands[1], i.operands[2]
    if "wide" in i.parts:
        code = CODES[wide_kind(kind)]
        return f"({e.read(a, kind)}.astype({code}) * {e.read(b, kind)}.astype({code}))", wide_kind(kind)
    if "hi" in i.parts:
        size = SIZE[CODES[kind]]
        if size == 8:
            return f"mul_hi_{kind}({e.read(a, kind)}, {e.read(b, kind)})", kind
        code = CODES[wide_kind(kind)]
        shift = e.constant(np.dtype(code).type(8 * size))
        product = f"(({e.read(a, kind)}.astype({code}) * {e.read(b, kind)}.astype({code})) >> {shift})"
        return f"{product}.astype({CODES[kind]})", kind
    unsigned = "u" + kind[1:]
    return f"({e.read(a, unsigned)} * {e.read(b, unsigned)})", unsigned


def emit(e, i, kind: str) -> None:
    """Generate add, sub, mul, mad, div, min, max, abs, neg of integers."""
    family = i.family
    e.allow("lo", "hi", "wide", "sat", "cc", "relu")
    if "cc" in i.parts:
        carry(e, i, kind)
        return
    unsigned = "u" + kind[1:]
    if kind in ("u16x2", "s16x2"):
        _pairs(e, i, kind)
    elif family in ("add", "sub"):
        sign = "+" if family == "add" else "-"
        if "sat" in i.parts:
            a, b = (f"{e.read(o, 's32')}.astype(i8)" for o in i.operands[1:])
            e.write(i.operands[0], f"np.clip({a} {sign} {b}, {-(2**31)}, {2**31 - 1}).astype(i4)", "s32")
        else:
            a, b = (e.read(o, unsigned) for o in i.operands[1:])
            e.write(i.operands[0], f"({a} {sign} {b})", unsigned)
    elif family == "mul":
        e.write(i.operands[0], *multiplied(e, i, kind))
    elif family in ("mad", "fma"):
        product, product_kind = multiplied(e, i, kind)
        unsigned = "u" + product_kind[1:]
        c = e.read(i.operands[3], unsigned)
        product = product if product_kind == unsigned else f"{product}.view({CODES[unsigned]})"
        if "sat" in i.parts:
            if "hi" not in i.parts or kind != "s32":
                raise e.unsupported("the saturating form")
            total = f"({product}.view(i4).astype(i8) + {e.read(i.operands[3], 's32')})"
            e.write(i.operands[0], f"np.clip({total}, {-(2**31)}, {2**31 - 1}).astype(i4)", "s32")
            return
        e.write(i.operands[0], f"({product} + {c})", unsigned)
    elif family == "div":
        a, b = (e.read(o, kind) for o in i.operands[1:])
        e.write(i.operands[0], f"({a} // {b})" if kind[0] != "s" else f"divide({a}, {b})", kind)
    elif family in ("min", "max"):
        a, b = (e.read(o, kind) for o in i.operands[1:])
        value = f"np.{family}imum({a}, {b})"
        if "relu" in i.parts:
            value = f"np.maximum({value}, {e.constant(np.dtype(CODES[kind]).type(0))})"
        e.write(i.operands[0], value, kind)
    elif family == "abs":
        e.write(i.operands[0], f"np.abs({e.read(i.operands[1], kind)})", kind)
    elif family == "neg":
        e.write(i.operands[0], f"(-{e.read(i.operands[1], kind)})", kind)
    else:
        raise e.unsupported()


def _pairs(e, i, kind: str) -> None:
    code = "u2" if kind == "u16x2" else "i2"
    a, b = (f"parts({e.read(o, 'b32')}, {code})" for o in i.operands[1:])
    value = f"({a} + {b})" if i.family == "add" else f"np.{i.family}imum({a}, {b})"
    if i.family not in ("add", "min", "max"):
        raise e.unsupported()
    if "relu" in i.parts:
        value = f"np.maximum({value}, {e.constant(np.int16(0))})"
    e.write(i.operands[0], f"whole({value}, u4)", "b32")


@runtime
def divide(a, b):
    """Signed division that truncates towards zero. The result of a division by zero is unspecified."""
    q = a // b
    r = a - q * b
    q = q + ((r != 0) & ((a < 0) != (b < 0))).astype(q.dtype)
    return q


@runtime
def remainder(a, b):
    """Signed remainder with the sign of the dividend."""
    return a - divide(a, b) * b


@runtime
def mul_hi_u64(a, b):
    """The high 64 bits of the 128-bit product."""
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    al, ah, bl, bh = a & mask, a >> half, b & mask, b >> half
    low, mid1, mid2 = al * bl, ah * bl, al * bh
    carry_ = ((low >> half) + (mid1 & mask) + (mid2 & mask)) >> half
    return ah * bh + (mid1 >> half) + (mid2 >> half) + carry_


@runtime
def mul_hi_s64(a, b):
    """The high 64 bits of the signed 128-bit product."""
    ua, ub = a.view(np.uint64), b.view(np.uint64)
    high = mul_hi_u64(ua, ub)
    zero = np.uint64(0)
    high = high - np.where(a < 0, ub, zero) - np.where(b < 0, ua, zero)
    return high.view(np.int64)


@op("rem", forms="u16 s16 u32 s32 u64 s64")
def rem(e, i):
    """Remainder."""
    kind = types_of(i.parts)[-1]
    e.allow()
    a, b = (e.read(o, kind) for o in i.operands[1:])
    e.write(i.operands[0], f"({a} % {b})" if kind[0] == "u" else f"remainder({a}, {b})", kind)


@op("mul24", "mad24", forms="lo, hi of u32 s32")
def mul24(e, i):
    """24-bit multiplication."""
    kind = types_of(i.parts)[-1]
    e.allow("lo", "hi")
    wide = "i8" if kind == "s32" else "u8"
    a, b = (f"low24({e.read(o, kind)}).astype({wide})" for o in i.operands[1:3])
    shift = e.constant(np.dtype(wide).type(16 if "hi" in i.parts else 0))
    value = f"(({a} * {b}) >> {shift}).astype({CODES[kind]})"
    if i.family == "mad24":
        value = f"({value} + {e.read(i.operands[3], kind)})"
    e.write(i.operands[0], value, kind)


@runtime
def low24(x):
    """The lower 24 bits, sign-extended if the type is signed."""
    return (x << x.dtype.type(8)) >> x.dtype.type(8)


@op("sad", forms="u16 s16 u32 s32 u64 s64")
def sad(e, i):
    """|a - b| + c"""
    kind = types_of(i.parts)[-1]
    e.allow()
    a, b, c = (e.read(o, kind) for o in i.operands[1:])
    e.write(i.operands[0], f"(np.maximum({a}, {b}) - np.minimum({a}, {b}) + {c})", kind)


@op("addc", "subc", "madc", forms="cc; u32 s32 u64 s64")
def with_carry(e, i):
    """Additions and subtractions with the carry of an earlier instruction."""
    e.allow("cc", "lo", "hi")
    carry(e, i, types_of(i.parts)[-1])


def carry(e, i, kind: str) -> None:
    """Generate extended-precision arithmetic. The carry flag is item `program.carry` of R, after the registers."""
    unsigned, size = "u" + kind[1:], SIZE[CODES[kind]]
    code = f"u{size}"
    if i.family in ("mad", "madc"):
        product, product_kind = multiplied(e, i, kind)
        a = product if product_kind == unsigned else f"{product}.view({code})"
        b = e.read(i.operands[3], unsigned)
    else:
        a, b = (e.read(o, unsigned) for o in i.operands[1:])
    subtracting = i.family.startswith("sub")
    incoming = f"R[{e.program.carry}]" if i.family.endswith("c") else str(int(subtracting))
    which = "borrowed" if subtracting else "carried"
    total, out = e.temporary(), e.temporary()
    e.line(f"{total}, {out} = {which}({a}, {b}, {incoming}, {code})")
    if "cc" in i.parts:
        e.line(f"R[{e.program.carry}] = {out}")
    e.write(i.operands[0], total, unsigned)


@runtime
def carried(a, b, incoming, dtype):
    """(sum, carry out) of a + b + carry in."""
    first = a + b
    total = first + np.asarray(incoming).astype(dtype)
    return total, ((first < a) | (total < first))


@runtime
def borrowed(a, b, incoming, dtype):
    """(difference, flag) of a - b with a borrow. As in hardware the flag is 1 if there is no borrow."""
    take = np.uint8(1) - np.asarray(incoming).astype(np.uint8)
    total = a - b - take.astype(dtype)
    return total, ~((a < b) | ((a == b) & (take != 0)))


@op("dp4a", "dp2a", forms={"dp4a": "u32 s32", "dp2a": "lo, hi; u32 s32"})
def dot(e, i):
    """Dot product of four (or two) elements, added to an accumulator."""
    kinds = types_of(i.parts)
    e.allow("lo", "hi")
    first, second = ("i1" if k == "s32" else "u1" for k in kinds[:2])
    a, b = e.read(i.operands[1], "b32"), e.read(i.operands[2], "b32")
    c = e.read(i.operands[3], "u32")
    if i.family == "dp4a":
        value = f"dot_parts(parts({a}, {first}), parts({b}, {second}))"
    else:
        part = slice(2, 4) if "hi" in i.parts else slice(0, 2)
        wide = "i2" if kinds[0] == "s32" else "u2"
        value = f"dot_parts(parts({a}, {wide}), parts({b}, {second})[..., {part.start}:{part.stop}])"
    e.write(i.operands[0], f"({value} + {c})", "u32")


@runtime
def dot_parts(a, b):
    """The sum of products along the last axis, modulo 2³²."""
    return (a.astype(np.int64) * b.astype(np.int64)).sum(-1).astype(np.uint32)
