"""cvt: conversions between integer and float types, and the packed forms that cuda_fp16.h and cuda_bf16.h use."""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.rounding import with_mode
from gpu_simulator.codegen.ops.scalar import fp8, half
from gpu_simulator.codegen.ops.scalar.arithmetic import shows_bits
from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.ptx.types import CODES, SIZE
from gpu_simulator.runtime import runtime

_FLOATS = ("f16", "bf16", "f32", "f64", "tf32")
_TO_INTEGER = {"rni": "np.rint", "rzi": "np.trunc", "rmi": "np.floor", "rpi": "np.ceil"}
_MODES = ("rn", "rz", "rm", "rp", "rna", *_TO_INTEGER, "ftz", "sat", "satfinite", "relu")


@op(
    "cvt",
    forms="all pairs of u8 … s64, f16, bf16, f32, f64; rn rz rm rp rni rzi rmi rpi sat ftz relu; f16x2, bf16x2, tf32; "
    "e4m3x2 and e5m2x2 (satfinite, relu) from f32 and f16x2, e2m3x2, e3m2x2 and e2m1x2 from f32, and all to f16x2; "
    "ue8m0x2 (rz, rp, satfinite) from f32 and bf16x2, and to bf16x2",
)
def cvt(e, i):
    """Conversions."""
    e.allow(*_MODES)
    kinds = types_of(i.parts)
    to, source = kinds[0], kinds[1]
    mode = next((p for p in i.parts if p in ("rn", "rz", "rm", "rp", "rna")), "rn")
    if to in fp8.PAIRS or source in fp8.PAIRS:
        fp8.convert(e, i, to, source)
        return
    if "satfinite" in i.parts and to not in ("tf32",):
        raise e.unsupported("the .satfinite form")
    if to in ("f16x2", "bf16x2"):
        high, low = (narrowed(e, e.read(o, "f32"), "f32", to[:-2], mode, i) for o in i.operands[1:3])
        e.write(i.operands[0], f"(({high}.astype(u4) << {e.constant(np.uint32(16))}) | {low}.astype(u4))", "b32")
    elif to in _FLOATS and source in _FLOATS:
        floats(e, i, to, source, mode)
    elif to in _FLOATS:
        value = e.read(i.operands[1], source)
        number, held = from_integer(e, value, source, to, mode)
        if "sat" in i.parts:
            if to == "bf16":
                raise e.unsupported("the saturating form")
            number = f"saturate({number})"
        e.write(i.operands[0], number, held)
    elif source in _FLOATS:
        value = half.values(e, i.operands[1], source) if source in ("f16", "bf16") else e.read(i.operands[1], source)
        if "ftz" in i.parts and source == "f32":
            value = f"flush({value})"
        how = next((p for p in i.parts if p in _TO_INTEGER), "rzi")
        e.write(i.operands[0], f"to_integer({value}, {how!r}, {CODES[to]})", to)
    else:
        integers(e, i, to, source)


def integers(e, i, to: str, source: str) -> None:
    """Generate a conversion from one integer type to another, with saturation if it has .sat."""
    value = e.read(i.operands[1], source)
    if "sat" in i.parts:
        e.write(i.operands[0], f"saturated({value}, {CODES[to]})", to)
        return
    have, want = CODES[source], CODES[to]
    if SIZE[have] == SIZE[want]:
        value = value if have == want else f"{value}.view({want})"
    else:
        value = f"{value}.astype({want})"
    register = i.operands[0]
    size = {"b16": 2, "u16": 2, "s16": 2, "f16": 2}.get(getattr(register, "type", ""), 0)
    if size > SIZE[want]:
        value, to = f"{value}.astype({want[0]}{size})", f"{to[0]}{8 * size}"
    e.write(register, value, to)


@runtime
def saturated(value, dtype):
    """An integer clamped to the range of another integer type."""
    info = np.iinfo(dtype)
    low, high = max(info.min, np.iinfo(value.dtype).min), min(info.max, np.iinfo(value.dtype).max)
    return np.clip(value, value.dtype.type(low), value.dtype.type(high)).astype(dtype)


@runtime
def to_integer(value, how, dtype):
    """A float rounded and clamped to an integer type. NaN gives 0, or 0x80… if the source or the target has 64 bits."""
    value = np.asarray(value)
    wide = value.astype(np.float64)
    rounded = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[how](wide)
    info = np.iinfo(dtype)
    top = float(info.max) if info.bits < 64 else float(np.nextafter(float(info.max) + (info.max & 1 == 0), 0))
    bad = np.isnan(rounded)
    inside = np.clip(np.where(bad, 0.0, rounded), float(info.min), top).astype(dtype)
    over = rounded > top
    out = np.where(over, dtype(info.max), inside)
    if bad.any():
        bits = info.bits if info.bits == 64 or value.dtype == np.float64 else 0
        nan = np.uint64((1 << bits) >> 1).astype(dtype)
        out = np.where(bad, nan, out)
    return out if out.ndim else out[()]


def from_integer(e, value: str, source: str, to: str, mode: str) -> tuple[str, str]:
    """(expression, type) of an integer `value` as a floating-point number, rounded in `mode`."""
    if to in ("f16", "bf16"):
        wide = f"integer_to_float({value}, f4, 'odd')"
        if to == "f16":
            return (f"{wide}.astype(f2)" if mode == "rn" else f"to_f16({wide}, {mode!r})"), "f16"
        return f"f32_to_bf16({wide}, {mode!r})", "b16"
    return f"integer_to_float({value}, {CODES[to]}, {mode!r})", to


@runtime
def integer_to_float(value, dtype, mode):
    """An integer as float32 or float64, rounded once. mode "odd": if it is then rounded to a narrower type."""
    if mode == "rn":
        return value.astype(dtype)
    size = value.dtype.itemsize
    if size <= 4:
        wide = value.astype(np.float64)
        if dtype is np.float64:
            return wide
        if mode == "odd":
            from gpu_simulator.arithmetic.rounding import to_f32_odd

            return to_f32_odd(wide)
        return with_mode(wide, np.float32, mode)
    nearest = np.asarray(value.astype(dtype))
    exact = np.asarray(value)
    # The integer difference shows on which side of the value the nearest float is.
    limited = np.clip(
        nearest, -(2.0**63), np.nextafter(dtype(2.0**64 if exact.dtype.kind == "u" else 2.0**63), dtype(0))
    )
    back = limited.astype(exact.dtype)
    above = (back > exact) | (nearest > limited)
    below = (back < exact) & ~above
    if mode == "odd":
        bits = nearest.view(np.uint32)
        down = np.where(above & (nearest > 0) | below & (nearest < 0), bits - np.uint32(1), bits)
        out = np.where(above | below, down | np.uint32(1), down).view(np.float32)
    else:
        wrong_up = above & ((mode == "rm") | ((mode == "rz") & (nearest > 0)))
        wrong_down = below & ((mode == "rp") | ((mode == "rz") & (nearest < 0)))
        out = np.where(
            wrong_up,
            np.nextafter(nearest, dtype(-np.inf)),
            np.where(wrong_down, np.nextafter(nearest, dtype(np.inf)), nearest),
        )
    return out if out.ndim else out[()]


def narrowed(e, value: str, source: str, to: str, mode: str, i) -> str:
    """The expression of float32 or float64 values as FP16 or BF16 bit patterns."""
    if to == "f16":
        value = value if source == "f64" else f"canonical({value})"  # a float64 passes its NaN on
        x = f"{value}.astype(f2)" if mode == "rn" else f"to_f16({value}, {mode!r})"
        if "sat" in i.parts or "relu" in i.parts:
            x = f"clamp_half({x}, {'None' if 'relu' in i.parts else 1})"
        return f"{x}.view(u2)"
    if "sat" in i.parts or "relu" in i.parts:
        value = f"clamp_half({value}, {'None' if 'relu' in i.parts else 1})"
    if source == "f64":
        return f"f64_to_bf16({value}, {mode!r}, True)"
    return f"f32_to_bf16({value}, {mode!r})" if mode != "rn" else f"f32_to_bf16({value})"


@runtime
def to_f16(x, mode):
    """float32 or float64 values as float16, rounded in `mode`."""
    return with_mode(x, np.float16, mode)


def floats(e, i, to: str, source: str, mode: str) -> None:
    """Generate a conversion from float to float; .rni, .rzi, .rmi and .rpi round to an integral value."""
    value = half.values(e, i.operands[1], source) if source in ("f16", "bf16") else e.read(i.operands[1], source)
    if "ftz" in i.parts and source == "f32":
        value = f"canonical(flush({value}))"
    integral = next((p for p in i.parts if p in _TO_INTEGER), None)
    if integral:
        value = f"canonical({_TO_INTEGER[integral]}({value}))"
    if to == "tf32":
        e.write(i.operands[0], f"to_tf32({value}, {mode!r})", "f32")
        return
    if to == "f16":
        value = value if source == "f16" else f"{narrowed(e, value, source, 'f16', mode, i)}.view(f2)"
        e.write(i.operands[0], value, "f16")
        return
    if to == "bf16":
        wide = f"{value}.astype(f4)" if source == "f16" else value
        e.write(i.operands[0], narrowed(e, wide, source, "bf16", mode, i), "b16")
        return
    if to != source:
        if to == "f32" and source == "f64" and mode != "rn":
            value = f"directed({value}, {mode!r})"
        elif not (source == "bf16" and to == "f32"):
            value = f"{value}.astype({CODES[to]})"
            value = f"canonical({value})" if to == "f32" and source == "f16" and shows_bits(e, i) else value
    if "ftz" in i.parts and to == "f32":
        value = f"flush({value})"
    if "sat" in i.parts:
        value = f"saturate({value})"
    e.write(i.operands[0], value, to)


@runtime
def to_tf32(x, mode):
    """float32 rounded to 10 bits of fraction. Halves: rna rounds them away from zero, rn to even; rz truncates.

    A NaN keeps its upper bits with rna, and becomes 0x7FFFE000 with the others.
    """
    bits = x.view(np.uint32)
    if not np.isfinite(x).all():
        bits = np.where(
            np.isfinite(x), to_tf32(np.where(np.isfinite(x), x, x.dtype.type(0)), mode).view(np.uint32), bits
        )
        if mode != "rna":
            bits = np.where(np.isnan(x), np.uint32(0x7FFFE000), bits)
    elif mode == "rna":
        bits = bits + np.uint32(0x1000)
    elif mode == "rn":
        bits = bits + (np.uint32(0xFFF) + ((bits >> np.uint32(13)) & np.uint32(1)))
    return (bits & np.uint32(0xFFFFE000)).view(np.float32)
