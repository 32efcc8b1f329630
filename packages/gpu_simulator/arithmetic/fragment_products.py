"""Products of matrices whose fragments are in the registers of warps: registers to matrices, product, and back."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_simulator.arithmetic.fp8 import decoded
from gpu_simulator.arithmetic.rounding import bf16_to_f32, canonical, round_to_f16
from gpu_simulator.hardware.exact_sums import exact_sum
from gpu_simulator.hardware.fragments import gather_a, gather_b, gather_c, scatter_c
from gpu_simulator.runtime import runtime


def stacked(lanes, registers) -> np.ndarray:
    """The registers as one array of 32-bit patterns, (registers, lanes); a copy."""
    out = np.empty((len(registers), lanes.n), np.uint32)
    for row, value in zip(out, registers, strict=True):
        row[...] = value if value.dtype == np.uint32 else value.view(np.uint32)
    return out


def elements(words: np.ndarray, kind: str) -> np.ndarray:
    """The elements along the last axis of words of any width, in a type that holds `kind` exactly."""
    if kind == "f16":
        return words.view(np.float16)
    if kind == "bf16":
        return bf16_to_f32(words.view(np.uint16))
    if kind == "tf32":
        return (words.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
    if kind in ("e4m3", "e5m2"):
        return fp8_table(kind)[words.view(np.uint8)]
    return words.view(np.int8 if kind == "s8" else np.uint8)


def float_elements(bits: np.ndarray, kind: str) -> np.ndarray:
    """The elements of registers: from (…, 32) patterns to (…, 32, elements), as `elements` gives them."""
    return elements(bits[..., None], kind)


@lru_cache(maxsize=2)
def fp8_table(kind: str) -> np.ndarray:
    """(256,) float32: the value of every code of "e4m3" or "e5m2"."""
    return decoded(kind).astype(np.float32)


@runtime
def fragment_a(lanes, registers, tiles: int, form):
    """The matrix A of each warp, (warps, tiles · m, k), float32."""
    bits = stacked(lanes, registers).reshape(tiles, -1, lanes.n // 32, 32)
    return np.ascontiguousarray(gather_a(float_elements(bits, form[3]), 32 // form[6]).astype(np.float32, copy=False))


@runtime
def fragment_b(lanes, registers, tiles: int, form):
    """The matrix B of each warp, (warps, k, tiles · 8), float32; a transposed view."""
    bits = stacked(lanes, registers).reshape(tiles, -1, lanes.n // 32, 32)
    return gather_b(float_elements(bits, form[4]), 32 // form[6]).astype(np.float32, copy=False).swapaxes(1, 2)


@runtime
def accumulators(lanes, registers, rows: int, columns: int, form):
    """The matrix C of each warp, (warps, rows · m, columns · 8), float32 or int32."""
    warps, halves = lanes.n // 32, form[0] // 8
    if form[5] == "f16":
        bits = stacked(lanes, registers).reshape(rows, columns, halves, warps, 32, 1)
        return gather_c(bits.view(np.float16)).astype(np.float32)
    dtype = np.float32 if form[5] == "f32" else np.int32
    bits = stacked(lanes, registers).view(dtype).reshape(rows, columns, halves, 2, warps, 32)
    return gather_c(bits.transpose(0, 1, 2, 4, 5, 3))


@runtime
def multiply(a, b, c, form, rule_of, instruction="mma"):
    """a · b + c, the accumulators after one instruction; c may be None for zeros. Integers are exact.

    rule_of: `ResidentBlocks.sum_rule`. Without a rule the sum is in float32, and FP16 accumulators are then rounded.
    """
    rule = rule_of(instruction, *form[3:6])
    if rule is not None:
        return exact_sum(a, b, c, rule)
    product = np.matmul(a, b)
    if form[5] == "s32":
        product = product.astype(np.int32)
    if c is not None:
        product += c
    return round_to_f16(product) if form[5] == "f16" else product


@runtime
def results(lanes, tile, rows: int, columns: int, form, dtype=np.uint32):
    """The registers that hold the accumulators, in the order of the grid; FP16 elements are packed in pairs.

    dtype: of the registers; it has 4 bytes.
    """
    if form[5] == "f16":
        pairs = canonical(tile).astype(np.float16).view(np.uint32)  # (warps, rows·m, columns·4)
        warps, halves = tile.shape[0], form[0] // 8
        parts = pairs.reshape(warps, rows, halves, 8, columns, 4).transpose(1, 4, 2, 0, 3, 5)
        return list(np.ascontiguousarray(parts).reshape(-1, lanes.n))
    parts = canonical(np.ascontiguousarray(scatter_c(tile, rows, columns)).reshape(-1, lanes.n))
    return list(parts if parts.dtype == dtype else parts.view(dtype))
