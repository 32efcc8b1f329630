"""Lists the `mma.sync` forms that the emulator executes. Source: PTX ISA, "mma"."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class Form(NamedTuple):
    """m, n, k of one instruction; element types of A and B; type of the accumulator; bits of an element of A."""

    m: int
    n: int
    k: int
    a: str
    b: str
    accumulator: str
    bits: int


_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8}
_SHAPES = {
    "f16": ("m16n8k8", "m16n8k16"),
    "bf16": ("m16n8k8", "m16n8k16"),
    "tf32": ("m16n8k4", "m16n8k8"),
    "s8": ("m8n8k16", "m16n8k16", "m16n8k32"),
    "u8": ("m8n8k16", "m16n8k16", "m16n8k32"),
}
_ACCUMULATORS = {"f16": ("f16", "f32"), "bf16": ("f32",), "tf32": ("f32",), "s8": ("s32",), "u8": ("s32",)}


@lru_cache(maxsize=256)
def fusible(opcode: str) -> Form | None:
    """The form of an opcode such as mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32; None if it is not executed."""
    parts = opcode.split(".")
    saturate = "satfinite" in parts
    parts = [p for p in parts if p != "satfinite"]
    if len(parts) != 10 or parts[:3] != ["mma", "sync", "aligned"] or parts[4:6] != ["row", "col"] or saturate:
        return None
    shape, (d, a, b, c) = parts[3], parts[6:]
    if a not in _SHAPES or shape not in _SHAPES[a] or d != c or d not in _ACCUMULATORS[a]:
        return None
    if a != b and not {a, b} <= {"s8", "u8"}:
        return None
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return Form(int(m), int(n), int(k), a, b, d, _BITS[a])
