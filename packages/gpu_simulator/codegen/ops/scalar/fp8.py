"""FP8: e4m3 (no infinities, one NaN, largest 448) and e5m2 (IEEE-like, largest 57344), in pairs of 16 bits.

Source of the formats: PTX ISA, "Alternate floating-point data formats", and the satfinite conversions of `cvt`.
"""

from __future__ import annotations

import numpy as np

from gpu_simulator.codegen.ops.scalar import half

PAIRS = ("e4m3x2", "e5m2x2")


def convert(e, i, to: str, source: str) -> None:
    """Generate cvt.rn.satfinite{.relu}.e4m3x2.f32 (or .f16x2), cvt.rn{.relu}.f16x2.e4m3x2, and the same for e5m2x2."""
    relu, narrow = "relu" in i.parts, to in PAIRS
    if "rn" not in i.parts or ("satfinite" in i.parts) != narrow:
        raise e.unsupported("it must be .rn, and .satfinite towards fp8")
    kind = (to if narrow else source)[:4]
    if to == "f16x2" and source in PAIRS:
        codes = f"parts({e.read(i.operands[1], 'b16')}, u1)"
        half.store(e, i.operands[0], f"from_fp8({codes}, {kind!r}, {relu})", "f16x2")
    elif narrow and source == "f16x2":
        value = half.values(e, i.operands[1], "f16x2")
        e.write(i.operands[0], f"whole(to_fp8({value}, {kind!r}, {relu}), u2)", "b16")
    elif narrow and source == "f32":
        high, low = (f"to_fp8({e.read(o, 'f32')}, {kind!r}, {relu}).astype(u2)" for o in i.operands[1:3])
        e.write(i.operands[0], f"(({high} << {e.constant(np.uint16(8))}) | {low})", "b16")
    else:
        raise e.unsupported()
