"""PTX types and the NumPy types that hold them.

A register of 8, 16, 32 or 64 bits is an unsigned array, except .f32 and .f64, which are float arrays, and predicates,
which are bool. FP16 and BF16 are 16-bit patterns; two of them in one register are a 32-bit pattern. 128 bits are a
complex number, which NumPy copies bit by bit.
"""

from __future__ import annotations

import struct

import numpy as np

from gpu_simulator.ptx.declarations import number_bytes
from gpu_simulator.ptx.operands import integer

# PTX type -> NumPy code: kind and bytes.
CODES = {
    "pred": "?",
    "u8": "u1",
    "b8": "u1",
    "s8": "i1",
    "u16": "u2",
    "b16": "u2",
    "s16": "i2",
    "f16": "f2",
    "bf16": "u2",
    "u32": "u4",
    "b32": "u4",
    "s32": "i4",
    "f32": "f4",
    "f16x2": "u4",
    "bf16x2": "u4",
    "tf32": "f4",
    "u16x2": "u4",
    "s16x2": "u4",
    "u64": "u8",
    "b64": "u8",
    "s64": "i8",
    "f64": "f8",
    "f32x2": "u8",
    "e4m3x2": "u2",
    "e5m2x2": "u2",
    "e2m3x2": "u2",
    "e3m2x2": "u2",
    "e2m1x2": "u1",
    "ue8m0x2": "u2",
    "b128": "c16",
}
_CODES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "c16", "?")
NUMPY = {code: np.dtype(code) for code in _CODES}
SIZE = {code: dtype.itemsize for code, dtype in NUMPY.items()}


def register_code(kind: str) -> str:
    """The NumPy code of the array that holds a register of this PTX type."""
    code = CODES[kind]
    return code if code in ("f4", "f8", "c16", "?") else f"u{SIZE[code]}"


def immediate(text: str, kind: str) -> np.generic:
    """A literal as a NumPy scalar of the PTX type `kind`, with that type's own NumPy code. Raises `ValueError`."""
    code = CODES[kind]
    dtype = NUMPY[code]
    body = text.lstrip("-")
    is_float = body[:2] in ("0f", "0F", "0d", "0D") or "." in body
    if code == "?":
        return np.bool_(integer(text) != 0)
    if code in ("f4", "f8"):
        return np.frombuffer(number_bytes(text, "f32" if code == "f4" else "f64", SIZE[code]), dtype)[0]
    if is_float:
        raw = number_bytes(text, "f64" if SIZE[code] == 8 else "f32", 8 if SIZE[code] == 8 else 4)
        if code == "f2" or kind == "f16":
            return np.float16(struct.unpack("<f", raw)[0])
        return np.frombuffer(raw[: SIZE[code]], dtype)[0]
    value = integer(text) & ((1 << 8 * SIZE[code]) - 1)
    return np.frombuffer(value.to_bytes(SIZE[code], "little"), dtype)[0]
