"""Conversions between the types of scalars in PTX."""

from __future__ import annotations

from llvm_ir_to_ptx.code import Code, is_register, register_type, width
from llvm_ir_to_ptx.lowering import floats, integers
from llvm_ir_to_ptx.reading.types import BOOLEAN, WORD, Float, Integer, Scalar
from llvm_ir_to_ptx.unsupported import UnsupportedIR


def convert(code: Code, op: str, of: Scalar, to: Scalar, value: str) -> str:
    """The operand with a scalar of type `of` converted to type `to` by an operation of LLVM."""
    if op == "bitcast":
        return same_bits(code, of, to, value)
    if isinstance(of, Integer) and isinstance(to, Integer):
        if not is_register(value):
            number = int(value)
            if op == "sext" and number >> (of.bits - 1) & 1:
                number -= 1 << of.bits
            return integers.constant(to, number & ((1 << of.bits) - 1) if op == "zext" else number)
        return {"trunc": truncated, "zext": zero_extended, "sext": sign_extended}[op](code, of, to, value)
    if isinstance(of, Float) and isinstance(to, Float):
        return between_floats(code, of, to, value)
    if isinstance(of, Integer) and isinstance(to, Float):
        return from_integer(code, op, of, to, value)
    if isinstance(of, Float) and isinstance(to, Integer):
        return to_integer(code, op, of, to, value)
    raise UnsupportedIR(f"The conversion {op} of {of} to {to}")


def truncated(code: Code, of: Integer, to: Integer, value: str) -> str:
    """The lower bits of an integer."""
    if to == BOOLEAN:
        if width(of) == 16:
            value, of = code.compute("cvt.u32.u16", "b32", value), WORD
        last = code.compute(f"and.b{width(of)}", register_type(of), value, "1")
        return code.compute(f"setp.ne.s{width(of)}", "pred", last, "0")
    if width(of) != width(to):
        value = code.compute(f"cvt.u{width(to)}.u{width(of)}", register_type(to), value)
    return integers.masked(code, to, value)


def zero_extended(code: Code, of: Integer, to: Integer, value: str) -> str:
    """A wider integer with zeros above."""
    if of == BOOLEAN:
        return integers.as_number(code, value, width(to))
    if width(of) == width(to):
        return value
    return code.compute(f"cvt.u{width(to)}.u{width(of)}", register_type(to), value)


def sign_extended(code: Code, of: Integer, to: Integer, value: str) -> str:
    """A wider integer of the same value, read with a sign."""
    if of == BOOLEAN:
        return integers.masked(code, to, integers.as_number(code, value, width(to), "-1"))
    if of.bits == 8:
        return integers.masked(code, to, code.compute(f"cvt.s{width(to)}.s8", register_type(to), value))
    value = integers.sign_extended(code, of, value)
    if width(of) != width(to):
        value = code.compute(f"cvt.s{width(to)}.s{width(of)}", register_type(to), value)
    return integers.masked(code, to, value)


def between_floats(code: Code, of: Float, to: Float, value: str) -> str:
    """A number in another format, rounded to the nearest where it must be."""
    if of.kind == to.kind:
        return value
    if of.bits == 16 and to.kind == "double":
        return code.compute("cvt.f64.f32", "f64", floats.widened(code, of, value))
    if of.bits == 16 and to.kind == "float":
        return floats.widened(code, of, value)
    value = code.in_register(value, register_type(of))
    if to.bits == 16 and of.kind == "float":
        return floats.narrowed(code, to, value)
    if to.kind == "half" and of.kind == "double":
        return code.compute("cvt.rn.f16.f64", "b16", value)
    if {of.kind, to.kind} == {"float", "double"}:
        rounding = ".rn" if to.kind == "float" else ""
        return code.compute(f"cvt{rounding}.f{to.bits}.f{of.bits}", register_type(to), value)
    raise UnsupportedIR(f"A conversion of {of} to {to}")


def from_integer(code: Code, op: str, of: Integer, to: Float, value: str) -> str:
    """An integer as a number, rounded to the nearest; sitofp reads it with a sign, uitofp without one."""
    if to.kind == "bfloat":
        return floats.narrowed(code, to, from_integer(code, op, of, floats.SINGLE, value))
    if of == BOOLEAN:
        value, of = integers.as_number(code, value, 32, "-1" if op == "sitofp" else "1"), WORD
    if op == "sitofp":
        value = integers.sign_extended(code, of, value)
    value = code.in_register(value, register_type(of))
    return code.compute(f"cvt.rn.f{to.bits}.{op[0]}{width(of)}", register_type(to), value)


def to_integer(code: Code, op: str, of: Float, to: Integer, value: str) -> str:
    """A number as an integer, rounded towards zero."""
    if of.kind == "bfloat":
        value, of = floats.widened(code, of, value), floats.SINGLE
    value = code.in_register(value, register_type(of))
    if to == BOOLEAN:
        whole = code.compute(f"cvt.rzi.{op[4]}32.f{of.bits}", "b32", value)
        return truncated(code, WORD, BOOLEAN, whole)
    whole = code.compute(f"cvt.rzi.{op[4]}{width(to)}.f{of.bits}", register_type(to), value)
    return integers.masked(code, to, whole)


def same_bits(code: Code, of: Scalar, to: Scalar, value: str) -> str:
    """The same bits as another type of the same size."""
    old, new = register_type(of), register_type(to)
    if old == new or (not is_register(value) and isinstance(of, Integer) and isinstance(to, Integer)):
        return value
    return code.compute(f"mov.b{of.bits}", new, code.in_register(value, old))


def regrouped(code: Code, of: Scalar, to: Scalar, values: list[str]) -> list[str]:
    """The bits of a vector as a vector of other scalars, whose sizes differ: `<2 x i16>` as `i32`."""
    if of.bits == to.bits:
        return [same_bits(code, of, to, value) for value in values]
    old, new = register_type(of), register_type(to)
    if of.bits < to.bits:
        each = to.bits // of.bits
        groups = [values[start : start + each] for start in range(0, len(values), each)]
        if of.bits < 16:
            return [same_bits(code, Integer(to.bits), to, joined_bits(code, of.bits, to.bits, g)) for g in groups]
        parts = [", ".join(code.in_register(value, old) for value in group) for group in groups]
        return [code.compute(f"mov.b{to.bits}", new, f"{{{part}}}") for part in parts]
    each = of.bits // to.bits
    if to.bits < 16:
        plain = [same_bits(code, of, Integer(of.bits), value) for value in values]
        return [part for value in plain for part in split_bits(code, of.bits, to.bits, value)]
    return [
        part for value in values for part in code.unpack(f"mov.b{of.bits}", new, each, code.in_register(value, old))
    ]


def joined_bits(code: Code, bits: int, wide: int, values: list[str]) -> str:
    """An integer of `wide` bits from integers of `bits` bits each, fewer than 16, the lowest first."""
    whole, to, of = "", Integer(wide), Integer(bits)
    for number, value in enumerate(values):
        part = convert(code, "zext", of, to, value)
        if number:
            part = integers.binary(code, "shl", to, part, str(number * bits))
        whole = integers.binary(code, "or", to, whole, part) if whole else part
    return whole


def split_bits(code: Code, wide: int, bits: int, value: str) -> list[str]:
    """The integers of `bits` bits each, fewer than 16, that an integer of `wide` bits consists of, the lowest first."""
    whole = Integer(wide)
    shifted = [integers.binary(code, "lshr", whole, value, str(at)) if at else value for at in range(0, wide, bits)]
    return [convert(code, "trunc", whole, Integer(bits), part) for part in shifted]
