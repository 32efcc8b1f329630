"""Lists the `mma.sync` and `mma.sp` forms that the simulator executes. Source: PTX ISA, "mma", "mma.sp"."""

from __future__ import annotations

from collections.abc import Sequence
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


_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8}
_SHAPES = {
    "f16": ("m16n8k8", "m16n8k16"),
    "bf16": ("m16n8k8", "m16n8k16"),
    "tf32": ("m16n8k4", "m16n8k8"),
    "s8": ("m8n8k16", "m16n8k16", "m16n8k32"),
    "u8": ("m8n8k16", "m16n8k16", "m16n8k32"),
    "e4m3": ("m16n8k32",),
    "e5m2": ("m16n8k32",),
}
_SPARSE_SHAPES = {  # their k counts the zeros of A
    kind: tuple(f"m16n8k{2 * int(shape[6:])}" for shape in shapes if shape.startswith("m16n8k"))
    for kind, shapes in _SHAPES.items()
}
_ACCUMULATORS = {
    **dict.fromkeys(("f16", "e4m3", "e5m2"), ("f16", "f32")),
    **dict.fromkeys(("bf16", "tf32"), ("f32",)),
    **dict.fromkeys(("s8", "u8"), ("s32",)),
}
_MIXED = ({"s8", "u8"}, {"e4m3", "e5m2"})  # A and B may have different types of one of these sets


@lru_cache(maxsize=256)
def fusible(opcode: str) -> Form | None:
    """The form of an opcode such as mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32; None if it is not executed."""
    parts = opcode.split(".")
    return _form(parts[3:], _SHAPES) if parts[:3] == ["mma", "sync", "aligned"] else None


def sparse(parts: tuple[str, ...]) -> Form | None:
    """The form of a mma.sp, of which `k` counts the columns of A with the zeros; None if it is not executed."""
    known = parts[1] in ("sp", "sp__ordered_metadata") and parts[2:4] == ("sync", "aligned")
    return _form(parts[4:], _SPARSE_SHAPES) if known else None


def _form(parts: Sequence[str], shapes: dict[str, tuple[str, ...]]) -> Form | None:
    """The form of the modifiers after .aligned; None if `shapes`, by the type of A, does not have it."""
    if len(parts) != 7 or tuple(parts[1:3]) != ("row", "col"):
        return None
    shape, _, _, d, a, b, c = parts
    if a not in shapes or shape not in shapes[a] or d != c or d not in _ACCUMULATORS[a]:
        return None
    if a != b and not any({a, b} <= kinds for kinds in _MIXED):
        return None
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return Form(int(m), int(n), int(k), a, b, d, _BITS[a])
