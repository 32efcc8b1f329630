"""Scalar and SIMD video instructions that compilers still emit."""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.ptx.ir import Part
from gpu_simulator.runtime import runtime

_SCALAR = {
    "vadd": "({a} + {b})",
    "vsub": "({a} - {b})",
    "vmin": "np.minimum({a}, {b})",
    "vmax": "np.maximum({a}, {b})",
    "vmad": "({a} * {b} + {c})",
}


@op(*_SCALAR, forms="u32 and s32; a byte or half of a source; sat, except of vmad; no second operation")
def scalar_video(e, i):
    """Video instructions of two sources, 32 bits or a part of them, extended by their types and computed exactly."""
    mad = i.family == "vmad"
    e.allow("sat")
    result, *sources = types_of(i.parts)
    if i.parts != (i.family, result, *sources, *(("sat",) if "sat" in i.parts else ())) or len(sources) != 2:
        raise e.unsupported("a second operation")
    if len(i.operands) != 3 + mad or (mad and "sat" in i.parts):
        raise e.unsupported("the saturating form" if mad else "a third operand")
    a, b = (_extended(e, o, kind) for o, kind in zip(i.operands[1:3], sources, strict=True))
    value = _SCALAR[i.family].format(a=a, b=b, c=f"{e.read(i.operands[3], 'u32')}.astype(i8)" if mad else "")
    if "sat" in i.parts:
        low, high = (-(2**31), 2**31 - 1) if result == "s32" else (0, 2**32 - 1)
        value = f"np.clip({value}, {low}, {high})"
    e.write(i.operands[0], f"{value}.astype(u4)", "u32")


def _extended(e, operand, kind: str) -> str:
    """The expression of a source as int64."""
    if type(operand) is not Part:
        return f"{e.read(operand, kind)}.astype(i8)"
    size, number = (1 if operand.name[0] == "b" else 2), int(operand.name[1])
    return f"parts({e.read(operand.register, 'b32')}, {kind[0].replace('s', 'i')}{size})[..., {number}].astype(i8)"


@op(
    *("vabsdiff2", "vabsdiff4", "vadd4", "vsub4", "vmin4", "vmax4", "vavrg4"),
    forms="bytes or halves, all u32 or all s32; .add accumulates",
)
def parts_of_a_word(e, i):
    """Arithmetic on the four bytes or two halves of 32-bit registers."""
    e.allow("add", "sat")
    if "sat" in i.parts:
        raise e.unsupported("the saturating form")
    result, *sources = types_of(i.parts)
    if len(set(sources)) > 1:
        raise e.unsupported("sources of different types")
    which, count = i.family[1:-1], int(i.family[-1])
    distance = which == "absdiff" and "add" not in i.parts
    if sources and result != sources[0] and not (distance and result == "u32"):
        raise e.unsupported("a result of another type than its sources")
    code = f"{'i' if 's32' in sources else 'u'}{4 // count}"
    a, b = (f"parts({e.read(o, 'b32')}, {code}).astype(i4)" for o in i.operands[1:3])
    value = {
        "absdiff": f"np.abs({a} - {b})",
        "add": f"({a} + {b})",
        "sub": f"({a} - {b})",
        "min": f"np.minimum({a}, {b})",
        "max": f"np.maximum({a}, {b})",
        "avrg": f"average({a} + {b})",
    }[which]
    if "add" in i.parts[1:]:
        e.write(i.operands[0], f"(sum_of_parts({value}) + {e.read(i.operands[3], 'u32')})", "u32")
    else:
        e.write(i.operands[0], f"whole({value}.astype(u{4 // count}), u4)", "b32")


@runtime
def average(total):
    """Half of a sum, rounded away from zero if it is not whole."""
    return np.sign(total) * ((np.abs(total) + total.dtype.type(1)) >> total.dtype.type(1))


@runtime
def sum_of_parts(x):
    """The sum over the last axis as uint32. NumPy imports a module for the first sum, which generated code cannot."""
    return x.sum(-1).astype(np.uint32)


@runtime
def parts(x, dtype):
    """Each value split into n smaller elements of `dtype`: (…, n)."""
    return np.ascontiguousarray(np.asarray(x)[..., None]).view(dtype)


@runtime
def whole(x, dtype):
    """The inverse of `parts`."""
    out = np.ascontiguousarray(x).view(dtype)[..., 0]
    return out if out.ndim else out[()]
