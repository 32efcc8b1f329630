"""Floating-point arithmetic in PTX. A bfloat is computed with as a float and rounded, as sm_80 has no sum of them."""

from __future__ import annotations

from llvm_ir_to_ptx.code import Code, is_register, register_type
from llvm_ir_to_ptx.reading.types import Float
from llvm_ir_to_ptx.unsupported import UnsupportedIR

SINGLE = Float("float")
COMPARISONS = {
    "oeq": "eq",
    "one": "ne",
    "olt": "lt",
    "ole": "le",
    "ogt": "gt",
    "oge": "ge",
    "ueq": "equ",
    "une": "neu",
    "ult": "ltu",
    "ule": "leu",
    "ugt": "gtu",
    "uge": "geu",
    "ord": "num",
    "uno": "nan",
}


def constant(of: Float, bits: int) -> str:
    """A constant as an operand, by the bits of the number."""
    return {16: f"0x{bits:04X}", 32: f"0f{bits:08X}", 64: f"0d{bits:016X}"}[of.bits]


def widened(code: Code, of: Float, value: str) -> str:
    """A half or bfloat as a float."""
    value = code.in_register(value, "b16")
    if of.kind == "half":
        return code.compute("cvt.f32.f16", "f32", value)
    high = code.compute("shl.b32", "b32", code.compute("cvt.u32.u16", "b32", value), "16")
    return code.compute("mov.b32", "f32", high)


def narrowed(code: Code, of: Float, value: str) -> str:
    """A float rounded to a half or bfloat, to the nearest and to even in a tie."""
    return code.compute(f"cvt.rn.{'f16' if of.kind == 'half' else 'bf16'}.f32", "b16", value)


def binary(code: Code, op: str, of: Float, left: str, right: str, contracted: bool) -> str:
    """The register with the result of an operation of LLVM on two numbers.

    contracted: a product and a sum that contains it may be rounded once, together; they are if both are in one block.
    """
    if op == "frem":
        raise UnsupportedIR("The instruction frem (the remainder of a division, fmod)")
    if of.kind == "bfloat" or (of.kind == "half" and op == "fdiv"):
        wide = binary(code, op, SINGLE, widened(code, of, left), widened(code, of, right), False)
        return narrowed(code, of, wide)
    kind, name = register_type(of), f"f{of.bits}"
    if of.bits == 16:
        left, right = code.in_register(left, kind), code.in_register(right, kind)
    if contracted and op in ("fadd", "fsub"):
        if left in code.products:
            addend = right if op == "fadd" else negated(code, of, right)
            return code.compute(f"fma.rn.{name}", kind, *code.origins[left][1:], addend)
        if right in code.products:
            first, second = code.origins[right][1:]
            return code.compute(
                f"fma.rn.{name}", kind, first if op == "fadd" else negated(code, of, first), second, left
            )
    result = code.compute(f"{op[1:]}.rn.{name}", kind, left, right)
    if contracted and op == "fmul":
        code.products.add(result)
    return result


def fused(code: Code, of: Float, a: str, b: str, c: str) -> str:
    """a · b + c, rounded once."""
    kind = register_type(of)
    if of.kind == "bfloat":
        return code.compute("fma.rn.bf16", kind, *(code.in_register(value, kind) for value in (a, b, c)))
    if of.kind == "half":
        a, b, c = (code.in_register(value, kind) for value in (a, b, c))
    return code.compute(f"fma.rn.f{of.bits}", kind, a, b, c)


def negated(code: Code, of: Float, value: str) -> str:
    """The number with its sign changed, also that of a zero."""
    kind = register_type(of)
    if of.bits == 16:
        return code.compute("xor.b16", kind, code.in_register(value, kind), "0x8000")
    if not is_register(value):
        bits = int(value[2:], 16) ^ 1 << of.bits - 1
        return constant(of, bits)
    return code.compute(f"neg.f{of.bits}", kind, value)


def compare(code: Code, predicate: str, of: Float, left: str, right: str) -> str:
    """The predicate register that tells whether two numbers compare as `predicate` says: oeq, une, ult, ord …"""
    if predicate in ("true", "false"):
        return code.in_register(str(int(predicate == "true")), "pred")
    if of.kind == "bfloat":
        return compare(code, predicate, SINGLE, widened(code, of, left), widened(code, of, right))
    kind = register_type(of)
    pair = code.in_register(left, kind), code.in_register(right, kind)
    return code.compute(f"setp.{COMPARISONS[predicate]}.f{of.bits}", "pred", *pair)
