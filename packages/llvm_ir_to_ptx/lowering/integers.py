"""Integer arithmetic in PTX.

An integer of 8 bits, or of another number that PTX has no registers for, lies in a wider register whose upper bits are
zero. An integer of one bit is a predicate.
"""

from __future__ import annotations

from llvm_ir_to_ptx.code import Code, is_register, register_type, width
from llvm_ir_to_ptx.reading.types import BOOLEAN, Integer
from llvm_ir_to_ptx.unsupported import UnsupportedIR

_LOGIC = {"and": "and", "or": "or", "xor": "xor", "add": "xor", "sub": "xor", "mul": "and"}


def constant(of: Integer, value: int) -> str:
    """A constant as an operand: zero-extended where its register is wider, and else as a signed number."""
    value &= (1 << of.bits) - 1
    if of == BOOLEAN or of.bits != width(of):
        return str(value)
    return str(value - (1 << of.bits) if value >> (of.bits - 1) else value)


def masked(code: Code, of: Integer, value: str) -> str:
    """A result whose bits above `of` may be set, with these bits cleared."""
    if of.bits == width(of):
        return value
    return code.compute(f"and.b{width(of)}", register_type(of), value, str((1 << of.bits) - 1))


def sign_extended(code: Code, of: Integer, value: str) -> str:
    """A value in its own register's width, with its sign in the bits above it."""
    bits, kind = width(of), register_type(of)
    if of.bits == bits:
        return value
    if not is_register(value):
        number = int(value)
        return str(number - (1 << of.bits) if number >> (of.bits - 1) & 1 else number)
    up = code.compute(f"shl.b{bits}", kind, value, str(bits - of.bits))
    return code.compute(f"shr.s{bits}", kind, up, str(bits - of.bits))


def binary(code: Code, op: str, of: Integer, left: str, right: str) -> str:
    """The register with the result of an operation of LLVM on two integers."""
    if of == BOOLEAN:
        if op not in _LOGIC:
            raise UnsupportedIR(f"The operation {op} on {of}")
        pair = code.in_register(left, "pred"), code.in_register(right, "pred")
        return code.compute(f"{_LOGIC[op]}.pred", "pred", *pair)
    bits, kind = width(of), register_type(of)
    if op in ("and", "or", "xor"):
        if op == "xor" and right == constant(of, -1):
            return masked(code, of, code.compute(f"not.b{bits}", kind, left))
        return code.compute(f"{op}.b{bits}", kind, left, right)
    if op == "add":
        return masked(code, of, _sum(code, bits, kind, left, right))
    if op == "sub":
        return masked(code, of, code.compute(f"sub.s{bits}", kind, left, right))
    if op == "mul":
        return masked(code, of, product(code, bits, kind, left, right))
    if op in ("shl", "lshr", "ashr"):
        count = shift_count(code, of, right)
        if op == "shl":
            return masked(code, of, code.compute(f"shl.b{bits}", kind, left, count))
        if op == "lshr":
            return code.compute(f"shr.u{bits}", kind, left, count)
        return masked(code, of, code.compute(f"shr.s{bits}", kind, sign_extended(code, of, left), count))
    name = {"udiv": "div.u", "sdiv": "div.s", "urem": "rem.u", "srem": "rem.s"}[op]
    if op[0] == "s":
        left, right = sign_extended(code, of, left), sign_extended(code, of, right)
    return masked(code, of, code.compute(f"{name}{bits}", kind, left, right))


def _sum(code: Code, bits: int, kind: str, left: str, right: str) -> str:
    """A sum; one of a product and something else is a `mad`, and the product is left out if nothing else needs it."""
    for factor, addend in ((left, right), (right, left)):
        if bits > 16 and (parts := code.origin(factor, f"mul.lo.s{bits}")):
            return code.compute(f"mad.lo.s{bits}", kind, *parts, addend)
    return code.compute(f"add.s{bits}", kind, left, right)


def product(code: Code, bits: int, kind: str, left: str, right: str) -> str:
    """A product; one of two extended numbers of 32 bits is a `mul.wide`."""
    if bits == 64:
        for sign in "su":
            narrow = code.origin(left, f"cvt.{sign}64.{sign}32")
            if narrow and not is_register(right) and _fits(int(right), sign):
                return code.compute(f"mul.wide.{sign}32", kind, *narrow, right)
            if narrow and (other := code.origin(right, f"cvt.{sign}64.{sign}32")):
                return code.compute(f"mul.wide.{sign}32", kind, *narrow, *other)
    return code.compute(f"mul.lo.s{bits}", kind, left, right)


def _fits(number: int, sign: str) -> bool:
    return -(1 << 31) <= number < 1 << 31 if sign == "s" else 0 <= number < 1 << 31


def shift_count(code: Code, of: Integer, count: str) -> str:
    """The number of places of a shift, which PTX wants in 32 bits."""
    if width(of) == 32 or not is_register(count):
        return count
    return code.compute(f"cvt.u32.u{width(of)}", "b32", count)


def compare(code: Code, predicate: str, of: Integer, left: str, right: str) -> str:
    """The predicate register that tells whether two integers compare as `predicate` says: eq, ne, ult, sge …"""
    if of == BOOLEAN:
        if predicate not in ("eq", "ne"):
            raise UnsupportedIR(f"The comparison {predicate} of {of}")
        pair = code.in_register(left, "pred"), code.in_register(right, "pred")
        different = code.compute("xor.pred", "pred", *pair)
        return different if predicate == "ne" else code.compute("not.pred", "pred", different)
    bits = width(of)
    sign, test = ("s", predicate) if predicate in ("eq", "ne") else (predicate[0], predicate[1:])
    if sign == "s" and predicate not in ("eq", "ne"):
        left, right = sign_extended(code, of, left), sign_extended(code, of, right)
    return code.compute(f"setp.{test}.{sign}{bits}", "pred", code.in_register(left, f"b{bits}"), right)


def chosen(code: Code, kind: str, condition: str, yes: str, no: str) -> str:
    """The register with one of two values of a register type, as a predicate says."""
    condition = code.in_register(condition, "pred")
    if kind != "pred":
        return code.compute(f"selp.{kind}", kind, yes, no, condition)
    numbers = [as_number(code, value) for value in (yes, no)]
    return code.compute("setp.ne.s32", "pred", code.compute("selp.b32", "b32", *numbers, condition), "0")


def as_number(code: Code, condition: str, bits: int = 32, one: str = "1") -> str:
    """A predicate as an integer: `one` where it holds, else 0."""
    if not is_register(condition):
        return one if condition == "1" else "0"
    return code.compute(f"selp.b{bits}", f"b{bits}", one, "0", condition)
