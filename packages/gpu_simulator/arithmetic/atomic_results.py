"""The values that atomic operations store. Source: PTX ISA, "atom" and "red"."""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.rounding import bf16_to_f32, canonical, f32_to_bf16, flush
from gpu_simulator.ptx.types import CODES


def _add(old, value, kind):
    if kind == "f16x2":
        return canonical(old[:, None].view(np.float16) + value[:, None].view(np.float16)).view(np.uint32)[:, 0]
    if kind == "bf16":
        return f32_to_bf16(bf16_to_f32(old) + bf16_to_f32(value))
    if kind == "bf16x2":
        pair = lambda x: bf16_to_f32(np.ascontiguousarray(x)[:, None].view(np.uint16))  # noqa: E731
        return np.ascontiguousarray(f32_to_bf16(pair(old) + pair(value))).view(np.uint32)[:, 0]
    dtype = np.dtype(CODES[kind])
    return canonical(old.view(dtype) + value.view(dtype)).view(old.dtype)


def combine(which: str, kind: str, old, values, flushed: bool = False):
    """The new value in memory. old, values: bit patterns, unsigned integers of the same width.

    which: the operation, such as "add".   kind: its PTX type.   flushed: subnormal float32 numbers count as zeros.
    """
    value = values[0]
    dtype = np.dtype(CODES[kind])
    if which == "add" and flushed:
        total = flush(flush(old.view(np.float32)) + flush(value.view(np.float32)))
        return canonical(np.asarray(total, np.float32)).view(old.dtype)
    if which == "add":
        return _add(old, value, kind)
    if which in ("min", "max"):
        choose = np.minimum if which == "min" else np.maximum
        return choose(old.view(dtype), value.view(dtype)).view(old.dtype)
    if which == "cas":
        return np.where(old == value, values[1], old)
    if which == "inc":
        return np.where(old >= value, old.dtype.type(0), old + old.dtype.type(1))
    if which == "dec":
        return np.where((old == 0) | (old > value), value, old - old.dtype.type(1))
    if which == "exch":
        return value
    return {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[which](old, value)
