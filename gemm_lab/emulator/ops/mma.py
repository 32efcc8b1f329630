"""mma.sync: fragments gathered into float matrices, multiplied, rounded as the instruction rounds."""

from __future__ import annotations

import numpy as np

from gemm_lab.emulator.mma_shapes import Form, fusible
from gemm_lab.emulator.ops import mma_f64
from gemm_lab.emulator.ops.rounding import bf16_to_f32, round_to_f16
from gemm_lab.emulator.registry import op, runtime
from gemm_lab.model.fragments import gather_a, gather_b, gather_c, scatter_c


@op(
    "mma",
    forms="sync.aligned m16n8k8, m16n8k16 (f16, bf16), m16n8k4, m16n8k8 (tf32), m8n8k16, m16n8k16, m16n8k32 (s8, u8), "
    "m8n8k4, m16n8k4, m16n8k8, m16n8k16 (f64)",
)
def mma(e, i):
    """A single mma that the fuser could not take: of float64, or with operands that are not plain registers."""
    if "f64" in i.parts:
        mma_f64.emit(e, i)
        return
    known = fusible(i.opcode) is not None
    raise e.unsupported("operands that are not its registers of 32 bits" if known else "this shape or these types")


def _stack(L, registers) -> np.ndarray:
    """(registers, lanes) as 32-bit patterns, a copy."""
    out = np.empty((len(registers), L.n), np.uint32)
    for row, value in zip(out, registers, strict=True):
        row[...] = value if value.dtype == np.uint32 else value.view(np.uint32)
    return out


def _floats(bits: np.ndarray, kind: str) -> np.ndarray:
    """Elements of (…, 32 lanes) registers as float32: (…, 32, elements)."""
    wide = bits[..., None]
    if kind == "f16":
        return wide.view(np.float16)
    if kind == "bf16":
        return bf16_to_f32(wide.view(np.uint16))
    if kind == "tf32":
        return (wide & np.uint32(0xFFFFE000)).view(np.float32)
    return wide.view(np.int8 if kind == "s8" else np.uint8)


@runtime
def fragment_a(L, registers, tiles: int, form):
    """(warps, tiles · m, k) float32."""
    bits = _stack(L, registers).reshape(tiles, -1, L.n // 32, 32)
    return np.ascontiguousarray(gather_a(_floats(bits, form[3]), 32 // form[6]).astype(np.float32, copy=False))


@runtime
def fragment_b(L, registers, tiles: int, form):
    """(warps, k, tiles · 8) float32, a transposed view."""
    bits = _stack(L, registers).reshape(tiles, -1, L.n // 32, 32)
    return gather_b(_floats(bits, form[4]), 32 // form[6]).astype(np.float32, copy=False).swapaxes(1, 2)


@runtime
def accumulators(L, registers, rows: int, columns: int, form):
    """(warps, rows · m, columns · 8), float32 or int32."""
    warps, halves = L.n // 32, form[0] // 8
    if form[5] == "f16":
        bits = _stack(L, registers).reshape(rows, columns, halves, warps, 32, 1)
        return gather_c(bits.view(np.float16)).astype(np.float32)
    dtype = np.float32 if form[5] == "f32" else np.int32
    bits = _stack(L, registers).view(dtype).reshape(rows, columns, halves, 2, warps, 32)
    return gather_c(bits.transpose(0, 1, 2, 4, 5, 3))


@runtime
def multiply(a, b, c, form):
    """a · b + c in float32; FP16 accumulators are rounded to FP16 after the step, integers are exact."""
    out = np.matmul(a, b)
    if form[5] == "s32":
        return c + out.astype(np.int32)
    out += c
    return round_to_f16(out) if form[5] == "f16" else out


@runtime
def results(L, tile, rows: int, columns: int, form, dtype=np.uint32):
    """Registers of the accumulators, in grid order: FP16 pairs as 32-bit patterns, else one element each.

    dtype: of the registers, of 4 bytes.
    """
    if form[5] == "f16":
        pairs = tile.astype(np.float16).view(np.uint32)  # (warps, rows·m, columns·4)
        warps, halves = tile.shape[0], form[0] // 8
        parts = pairs.reshape(warps, rows, halves, 8, columns, 4).transpose(1, 4, 2, 0, 3, 5)
        return list(np.ascontiguousarray(parts).reshape(-1, L.n))
    parts = np.ascontiguousarray(scatter_c(tile, rows, columns)).reshape(-1, L.n)
    return list(parts if parts.dtype == dtype else parts.view(dtype))


__all__ = ["Form", "accumulators", "fragment_a", "fragment_b", "mma", "multiply", "results"]
