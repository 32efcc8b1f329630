"""FP16 and BF16 arithmetic, single and in pairs. Every result is rounded once."""

from __future__ import annotations

import numpy as np

from gpu_simulator.runtime import runtime


def values(e, operand, kind: str) -> str:
    """The expression of an operand as float16 (f16) or float32 (bf16); pairs have a last axis of 2."""
    if kind == "f16":
        return e.read(operand, "f16")
    if kind == "f16x2":
        return f"parts({e.read(operand, 'b32')}, f2)"
    if kind == "bf16":
        return f"bf16_to_f32({e.read(operand, 'b16')})"
    return f"bf16_to_f32(parts({e.read(operand, 'b32')}, u2))"


def store(e, operand, expression: str, kind: str) -> None:
    """Write float16 values, or BF16 bit patterns, to a register."""
    if kind in ("f16x2", "bf16x2"):
        e.write(operand, f"whole({expression}, u4)", "b32")
    else:
        e.write(operand, expression, "f16" if kind == "f16" else "b16")


@runtime
def canonical_bits(bits, infinity):
    """Patterns of FP16 or BF16 with each NaN as 0x7FFF. infinity: the pattern of the infinity, above which they lie."""
    nan = (bits & np.uint16(0x7FFF)) > infinity
    if not nan.any():
        return bits
    out = np.where(nan, np.uint16(0x7FFF), bits)
    return out if out.ndim else out[()]


def rounded(expression: str, kind: str) -> str:
    """The expression of float32 results of BF16 arithmetic as bit patterns; FP16 results are left unchanged."""
    return f"f32_to_bf16({expression})" if kind.startswith("bf16") else expression


def emit(e, i, kind: str) -> None:
    """Generate add, sub, mul, fma, min, max, abs, neg."""
    family, brain = i.family, kind.startswith("bf16")
    e.allow("ftz", "sat", "rn", "relu", "NaN", "noftz")
    if family in ("abs", "neg") and "ftz" not in i.parts:
        wide = "b32" if kind.endswith("x2") else "b16"
        number = (0x7FFF if family == "abs" else 0x8000) * (0x10001 if wide == "b32" else 1)
        constant = e.constant(np.uint32(number) if wide == "b32" else np.uint16(number))
        bits = f"({e.read(i.operands[1], wide)} {'&' if family == 'abs' else '^'} {constant})"
        infinity = e.constant(np.uint16(0x7F80 if brain else 0x7C00))
        if wide == "b32":
            bits = f"whole(canonical_bits(parts({bits}, u2), {infinity}), u4)"
        else:
            bits = f"canonical_bits({bits}, {infinity})"
        e.write(i.operands[0], bits, wide)
        return
    v = [values(e, o, kind) for o in i.operands[1:]]
    ftz = "ftz" in i.parts
    if ftz and brain:
        raise e.unsupported("the .ftz form")
    v = [f"flush({value})" for value in v] if ftz else v
    if family in ("add", "sub", "mul"):
        x = f"({v[0]} {dict(add='+', sub='-', mul='*')[family]} {v[1]})"
        x = rounded(x, kind)
    elif family in ("fma", "mad"):
        x = f"fma_half({v[0]}, {v[1]}, {v[2]})"
        x = f"f64_to_bf16({x})" if brain else f"{x}.astype(f2)"
    elif family in ("min", "max"):
        which = f"nan_{family}" if "NaN" in i.parts else f"float_{family}"
        x = rounded(f"{which}({v[0]}, {v[1]})", kind)
    elif family in ("abs", "neg"):
        x = f"np.abs({v[0]})" if family == "abs" else f"(-{v[0]})"
    else:
        raise e.unsupported()
    x = f"flush({x})" if ftz else x
    if "relu" in i.parts or "sat" in i.parts:
        top = "None" if "relu" in i.parts else "1"
        x = rounded(f"clamp_half({f'bf16_to_f32({x})' if brain else x}, {top})", kind)
    x = x if brain else f"canonical({x})"
    store(e, i.operands[0], x, kind)


@runtime
def clamp_half(x, top):
    """Clamp to at least 0 and at most `top`. NaN becomes 0 for .sat and stays for .relu (no top). Zeros become +0."""
    zero = x.dtype.type(0)
    if top is None:
        return np.where((x > 0) | np.isnan(x), x, zero)
    return np.where(x > 0, np.minimum(x, x.dtype.type(1)), zero)


def unary(e, i, kind: str, formula: str) -> None:
    """Generate ex2 and tanh, computed in float64."""
    value = values(e, i.operands[1], kind)
    if "ftz" in i.parts:
        value, formula = f"flush({value})", f"flush({formula}.astype(f4))"
    e.line(f"x = {value}.astype(f8)")
    x = f"f64_to_bf16({formula})" if kind.startswith("bf16") else f"canonical({formula}.astype(f2))"
    store(e, i.operands[0], x, kind)
