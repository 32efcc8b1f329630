"""setp, set, selp, slct: comparisons, optionally combined with a predicate, and selections."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.scalar import half
from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.ptx.types import CODES
from gpu_simulator.runtime import runtime

_SIGNED = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_SIGNED |= {"lo": "<", "ls": "<=", "hi": ">", "hs": ">="}  # of unsigned numbers
# An unordered comparison is the negation of the opposite ordered one.
_UNORDERED = {"ltu": ">=", "leu": ">", "gtu": "<=", "geu": "<"}
_COMBINE = {"and": "&", "or": "|", "xor": "^"}
_HALVES = ("f16", "bf16", "f16x2", "bf16x2")


def comparison(relation: str, a: str, b: str, kind: str) -> str:
    """The expression of one comparison. Unordered forms are true if an operand is NaN. Raises `KeyError` if unknown."""
    if relation in _SIGNED:
        if relation == "ne" and kind[0] in "fb" and kind not in ("b16", "b32", "b64"):
            return f"ordered_ne({a}, {b})"
        return f"({a} {_SIGNED[relation]} {b})"
    if relation == "neu":
        return f"({a} != {b})"
    if relation in _UNORDERED:
        return f"(~({a} {_UNORDERED[relation]} {b}))"
    if relation == "num":
        return f"(~(np.isnan({a}) | np.isnan({b})))"
    if relation == "nan":
        return f"(np.isnan({a}) | np.isnan({b}))"
    raise KeyError(relation)


@runtime
def ordered_ne(a, b):
    """Whether two numbers are different and neither is NaN."""
    return (a < b) | (a > b)


@runtime
def unordered_eq(a, b):
    """Whether two numbers are equal or one of them is NaN."""
    return ~((a < b) | (a > b))


def compared(e, i, relation: str, kind: str) -> str:
    """The expression of a comparison of two sources as `kind`."""
    if kind in _HALVES:
        a, b = (half.values(e, o, kind) for o in i.operands[1:3])
    else:
        a, b = (e.read(o, kind) for o in i.operands[1:3])
        if "ftz" in i.parts:
            a, b = f"flush({a})", f"flush({b})"
    if relation == "equ":
        return f"unordered_eq({a}, {b})"
    return comparison(relation, a, b, kind)


@op("setp", forms="eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan; and or xor; every type")
def setp(e, i):
    """Comparison that sets a predicate, or a predicate and its complement."""
    kind, relation = i.parts[-1], i.parts[1]
    e.allow(relation, "ftz", *_COMBINE)
    result = compared(e, i, relation, kind)
    destination = i.operands[0]
    combine = next((p for p in i.parts[2:] if p in _COMBINE), None)
    name = e.temporary()
    e.line(f"{name} = {result}")
    if kind.endswith("x2"):
        e.write(destination.first, f"{name}[..., 0]", "pred")
        e.write(destination.second, f"{name}[..., 1]", "pred")
        return
    first, second = name, f"(~{name})"
    if combine:
        other = e.temporary()
        e.line(f"{other} = {e.read(i.operands[3], 'pred')}")
        first, second = (f"({value} {_COMBINE[combine]} {other})" for value in (first, second))
    if hasattr(destination, "second"):
        e.line(f"{name}b = {second}")
        e.write(destination.first, first, "pred")
        e.write(destination.second, f"{name}b", "pred")
    else:
        e.write(destination, first, "pred")


@op("set", forms="the comparisons of setp to u32, s32, f32, f16, f16x2, bf16, bf16x2")
def set_(e, i):
    """Comparison that gives a number: all bits set, or 1.0, if true; 0 if false."""
    kinds = types_of(i.parts)
    to, kind, relation = kinds[0], kinds[-1], i.parts[1]
    e.allow(relation, "ftz", *_COMBINE)
    name = e.temporary()
    e.line(f"{name} = {compared(e, i, relation, kind)}")
    combine = next((p for p in i.parts[2:] if p in _COMBINE), None)
    if combine:
        e.line(f"{name} = ({name} {_COMBINE[combine]} {e.read(i.operands[3], 'pred')})")
    if kind.endswith("x2") and to in ("f16x2", "bf16x2", "u32", "s32"):
        one = {"f16x2": 0x3C00, "bf16x2": 0x3F80}.get(to, 0xFFFF)
        e.write(
            i.operands[0],
            f"whole(np.where({name}, {e.constant(np.uint16(one))}, {e.constant(np.uint16(0))}), u4)",
            "b32",
        )
        return
    code = CODES[to]
    one = {"f32": np.float32(1), "f16": np.float16(1), "bf16": np.uint16(0x3F80)}.get(
        to, np.dtype(code).type(-1) if code[0] == "i" else np.array(-1, np.int64).astype(code)[()]
    )
    zero = np.dtype(code).type(0)
    e.write(i.operands[0], f"sel({name}, {e.constant(one)}, {e.constant(zero)})", to)


@op("selp", forms="b16 b32 b64 u16 … f64")
def selp(e, i):
    """Selects one of two values by a predicate."""
    kind = i.parts[-1]
    e.allow()
    a, b = (e.read(o, kind) for o in i.operands[1:3])
    e.write(i.operands[0], f"sel({e.read(i.operands[3], 'pred')}, {a}, {b})", kind)


@op("slct", forms="by the sign of an s32 or f32")
def slct(e, i):
    """Selects one of two values by the sign of a third."""
    e.allow("ftz")
    kind, by = types_of(i.parts)
    a, b = (e.read(o, kind) for o in i.operands[1:3])
    c = e.read(i.operands[3], by)
    if "ftz" in i.parts:  # a and b are copied without flushing
        c = f"flush({c})"
    e.write(i.operands[0], f"sel({c} >= 0, {a}, {b})", kind)


@runtime
def sel(condition, a, b):
    """`a` where the condition holds, otherwise `b`."""
    if condition.ndim == 0:
        return a if condition else b
    return np.where(condition, a, b)


@runtime
def both(mask, guard, lanes):
    """The lanes of a mask for which the guard holds too; None means all lanes."""
    if guard.ndim == 0:
        return mask if guard else lanes.nobody
    return guard if mask is None else mask & guard
