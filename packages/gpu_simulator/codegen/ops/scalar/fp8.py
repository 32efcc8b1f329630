"""cvt of pairs in FP8 (e4m3, e5m2: 16 bits), FP6 (e2m3, e3m2: 16 bits), FP4 (e2m1: 8 bits) and ue8m0 (16 bits).

The arithmetic is in `gpu_simulator.arithmetic.fp8`. Source: PTX ISA, "cvt".
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.scalar import half

SCALES = "ue8m0x2"
PAIRS = ("e4m3x2", "e5m2x2", "e2m3x2", "e3m2x2", "e2m1x2", SCALES)


def convert(e, i, to: str, source: str) -> None:
    """Generate cvt.rn.satfinite{.relu}.PAIR.f32, of FP8 from .f16x2 too, and cvt.rn{.relu}.f16x2.PAIR."""
    if SCALES in (to, source):
        scales(e, i, to, source)
        return
    relu, narrow = "relu" in i.parts, to in PAIRS
    if "rn" not in i.parts or ("satfinite" in i.parts) != narrow:
        raise e.unsupported("it must be .rn, and .satfinite towards the narrower type")
    kind = (to if narrow else source)[:4]
    if to == "f16x2":
        half.store(e, i.operands[0], f"from_fp8({codes(e, i.operands[1], source)}, {kind!r}, {relu})", "f16x2")
    elif source == "f16x2" and kind in ("e4m3", "e5m2"):
        value = half.values(e, i.operands[1], "f16x2")
        e.write(i.operands[0], f"whole(to_fp8({value}, {kind!r}, {relu}), u2)", "b16")
    elif source == "f32":
        high, low = (f"to_fp8({e.read(o, 'f32')}, {kind!r}, {relu})" for o in i.operands[1:3])
        pack(e, i.operands[0], high, low, to)
    else:
        raise e.unsupported()


def codes(e, operand, source: str) -> str:
    """The expression of the two codes of a pair, low first, in a last axis."""
    if source != "e2m1x2":
        return f"parts({e.read(operand, 'b16')}, u1)"
    pair = e.temporary()
    e.line(f"{pair} = {e.read(operand, 'b8')}.astype(u2)")
    return f"parts(({pair} | ({pair} << {e.constant(np.uint16(4))})), u1)"


def pack(e, destination, high: str, low: str, to: str) -> None:
    """Generate the write of two codes: side by side in 8 bits if they are FP4, else in bytes of their own."""
    kind, dtype, shift = ("b8", "u1", np.uint8(4)) if to == "e2m1x2" else ("b16", "u2", np.uint16(8))
    e.write(destination, f"(({high}.astype({dtype}) << {e.constant(shift)}) | {low}.astype({dtype}))", kind)


def scales(e, i, to: str, source: str) -> None:
    """Generate cvt.rz and cvt.rp{.satfinite}.ue8m0x2 from .f32 or .bf16x2, and cvt.rn.bf16x2.ue8m0x2."""
    modes = [part for part in i.parts if part in ("rn", "rz", "rp")]
    if to == "bf16x2" and modes == ["rn"] and not {"relu", "satfinite"} & set(i.parts):
        e.write(i.operands[0], f"whole(from_ue8m0({codes(e, i.operands[1], source)}), u4)", "b32")
        return
    if to != SCALES or modes not in (["rz"], ["rp"]) or "relu" in i.parts or source not in ("f32", "bf16x2"):
        raise e.unsupported("it must be .rz or .rp towards .ue8m0x2, and .rn.bf16x2.ue8m0x2 back")
    how = f"{modes == ['rp']}, {'satfinite' in i.parts}"
    if source == "bf16x2":
        e.write(i.operands[0], f"whole(to_ue8m0(parts({e.read(i.operands[1], 'b32')}, u2), {how}), u2)", "b16")
        return
    high, low = (f"to_ue8m0(f32_to_bf16({e.read(o, 'f32')}, {modes[0]!r}), {how})" for o in i.operands[1:3])
    pack(e, i.operands[0], high, low, to)
