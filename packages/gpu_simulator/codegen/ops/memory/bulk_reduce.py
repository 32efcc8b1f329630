"""The arithmetic of cp.reduce.async.bulk. PTX ISA, "cp.reduce.async.bulk"."""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.atomic_results import combine
from gpu_simulator.arithmetic.rounding import bf16_to_f32, f32_to_bf16
from gpu_simulator.ptx.declarations import BYTES
from gpu_simulator.ptx.types import CODES

CHANGES = ("add", "min", "max", "inc", "dec", "and", "or", "xor")


def change_of(parts) -> tuple[str, str | None]:
    """(operation, element type) of a reduction; the type is None for a box, because its tensor map gives it."""
    kinds = [part for part in parts if part in CODES]
    return next(part for part in parts if part in CHANGES), None if "tensor" in parts else kinds[-1]


def reduced(change: tuple[str, str], old: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The new contents of chunks of 16 bytes: old and value, combined element by element."""
    which, kind = change
    raw = f"u{BYTES[kind]}"
    before, new = (np.ascontiguousarray(chunks).view(raw) for chunks in (old, value))
    if kind == "bf16" and which in ("min", "max"):
        choose = np.minimum if which == "min" else np.maximum
        found = f32_to_bf16(choose(bf16_to_f32(before), bf16_to_f32(new)))
    else:
        found = combine(which, kind, before, (new,))
    return np.ascontiguousarray(found).view(old.dtype)
