"""The wmma instructions of mma.h: loads and stores of whole tiles, and their products.

The distribution of a tile over the lanes is not documented. For m16n16k16 the simulator uses the layout of mma.m16n8k16
(two of them side by side), for m8n8k4 that of mma.m8n8k4, for the other shapes row-major order; elementwise code on
fragments works with any layout. Wavefronts and sectors are counted for the machine instructions of
`hardware.wmma_access`.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_simulator.arithmetic.fragment_products import float_elements, multiply, stacked
from gpu_simulator.arithmetic.rounding import canonical, round_to_f16
from gpu_simulator.codegen.ops.matrix import mma_f64
from gpu_simulator.codegen.ops.memory.addresses import resolve, space_of, split_generic, wide_address
from gpu_simulator.codegen.registry import op, types_of
from gpu_simulator.hardware.banks import ideal_wavefronts
from gpu_simulator.hardware.mma_layouts import Mma
from gpu_simulator.hardware.wmma_access import ELEMENT_BYTES, SHAPES, access
from gpu_simulator.machine.counting import based
from gpu_simulator.ptx.ir import items_of
from gpu_simulator.runtime import runtime

_WORDS = (
    "load", "store", "mma", "a", "b", "c", "d", "sync", "aligned", "row", "col", "satfinite", "rn", "global",
    "shared", "shared__cta", *SHAPES,
)  # fmt: skip


@lru_cache(maxsize=64)
def coordinates(matrix: str, shape: str, registers: int, each: int) -> np.ndarray:
    """(row, column) of each register, lane and element: (registers, 32, each, 2). Elements may occur more than once."""
    if shape == "m8n8k4":
        return Mma(shape, "f64").coordinates(matrix.upper()).swapaxes(0, 1)
    m, n, k = SHAPES[shape]
    rows, columns = {"a": (m, k), "b": (k, n)}.get(matrix, (m, n))
    if shape == "m16n16k16" and (each == 2 or matrix in "cd"):
        mma = Mma("m16n8k16", "f16", "f16" if each == 2 else "f32")
        held = mma.coordinates(matrix.upper()).swapaxes(0, 1)
        tiles = [held] if matrix == "a" else [held, held + [0, 8]]
        return np.concatenate(tiles * (registers // (len(tiles) * len(held))))
    number = np.arange(registers * each * 32) % (rows * columns)
    number = number.reshape(registers, 32, each)
    return np.stack([number // columns, number % columns], -1)


def _element(kind: str) -> tuple[int, int]:
    return ELEMENT_BYTES[kind], max(4 // ELEMENT_BYTES[kind], 1)


@op(
    "wmma",
    forms="load.a/b/c, store.d, mma; m16n16k16, m32n8k16, m8n32k16 (f16, bf16, s8, u8), m16n16k8 (tf32), m8n8k4 (f64)",
)
def wmma(e, i):
    """Loads, stores and products of tiles by whole warps."""
    e.allow(*_WORDS)
    shape = next((p for p in i.parts if p in SHAPES), None)
    if shape is None or (shape == "m8n8k4") != ("f64" in i.parts):
        raise e.unsupported("this shape")
    if i.parts[1] == "mma":
        _multiply(e, i, shape)
        return
    kind = types_of(i.parts)[-1]
    loading = i.parts[1] == "load"
    matrix = i.parts[2]
    layout = "row" if "row" in i.parts else "col"
    vector, memory = (i.operands[0], i.operands[1]) if loading else (i.operands[1], i.operands[0])
    bits = "f64" if kind == "f64" else "b32"
    rows = SHAPES[shape]
    m, n, k = rows
    extents = {"a": (m, k), "b": (k, n)}.get(matrix, (m, n))
    stride = (
        e.read(i.operands[2], "u32")
        if len(i.operands) > 2
        else e.constant(np.uint32(extents[1 if layout == "row" else 0]))
    )
    space = space_of(e, i, memory)
    address = e.address(memory) if space == "shared" else wide_address(e, memory)
    detail = repr((matrix, shape, layout, kind))
    if loading:
        t, count = e.temporary(), len(items_of(vector))
        e.line(f"{t} = load_tile(resident, lanes, {i.site}, {space!r}, {address}, {stride}, {count}, {detail})")
        e.write_all(vector, t, bits)
    else:
        values = e.read_all(vector, bits)
        e.line(f"store_tile(resident, lanes, {i.site}, {space!r}, {address}, {stride}, {values}, {detail})")


def _elements(resident, lanes, site, space, address, stride, registers, detail):
    """Yield (register, element, memory, index) of every element, and count the request."""
    matrix, shape, layout, kind = detail
    size, each = _element(kind)
    where = coordinates(matrix, shape, registers, each)
    named = space == "shared"
    if space == "generic":
        parts = split_generic(resident, lanes, address, None)
        space, address, _ = parts[0]
    wide = np.uint64 if space == "global" else address.dtype.type
    address = np.broadcast_to(address, lanes.n)
    first = np.repeat(address.reshape(lanes.warps, 32)[:, 0], 32).astype(wide)
    stride = np.repeat(np.broadcast_to(stride, lanes.n).reshape(lanes.warps, 32)[:, 0], 32).astype(wide)
    counts = resident.sites[site]
    before = counts.wavefronts, counts.ideal, counts.sectors, counts.requests, counts.bytes
    for register in range(registers):
        for element in range(each):
            row, column = (np.tile(where[register, :, element, axis], lanes.warps).astype(wide) for axis in (0, 1))
            major, minor = (row, column) if layout == "row" else (column, row)
            at = first + (major * stride + minor) * wide(size)
            memory, index, picked = resolve(resident, lanes, site, space, at, lanes.mask, size)
            for observer in resident.observers:
                (observer.write if matrix == "d" else observer.read)(lanes, site, memory, index, picked, size)
            yield register, element, memory, index
    counts.wavefronts, counts.ideal, counts.sectors, counts.requests, counts.bytes = before
    _count(resident, counts, lanes, space, named, *(x.astype(np.int64)[::32, None] for x in (first, stride)), detail)


def _count(resident, counts, lanes, space, named, first, stride, detail):
    """Count the requests, wavefronts and sectors of the machine instructions into which ptxas translates the access."""
    width, line, byte, instructions = access(*detail, named)
    step = stride * ELEMENT_BYTES[detail[3]]
    for lines, bytes_ in zip(line, byte, strict=True):
        at = first + lines * step + bytes_
        if space == "shared":
            counts.wavefronts += resident.launch.patterns.total("shared", width, based(at, None, 4), None)
            counts.ideal += lanes.warps * int(ideal_wavefronts(at.shape[1], width))
        elif space == "global":
            counts.sectors += resident.launch.patterns.total("sectors", width, based(at, None, 32), None)
    counts.requests += lanes.warps * instructions
    counts.bytes += lanes.warps * line.size * width


@runtime
def load_tile(resident, lanes, site, space, address, stride, registers, detail):
    """wmma.load: the registers of a fragment. stride: in elements.   detail: (matrix, shape, layout, type)."""
    size, each = _element(detail[3])
    out = np.zeros((registers, lanes.n, each), f"u{size}")
    for register, element, memory, index in _elements(resident, lanes, site, space, address, stride, registers, detail):
        out[register, :, element] = memory.views[size][index]
    return list(out.view(np.float64 if size == 8 else np.uint32)[:, :, 0])


@runtime
def store_tile(resident, lanes, site, space, address, stride, values, detail):
    """wmma.store: write a fragment to memory. stride, detail: as for `load_tile`."""
    size, each = _element(detail[3])
    bits = np.stack([np.broadcast_to(v, lanes.n) for v in values])
    parts = bits[..., None].view(f"u{size}")
    for register, element, memory, index in _elements(
        resident, lanes, site, space, address, stride, len(values), detail
    ):
        memory.views[size][index] = parts[register, :, element]


def _multiply(e, i, shape):
    if "satfinite" in i.parts:
        raise e.unsupported()
    if shape == "m8n8k4":
        mma_f64.emit_product(e, i, shape)
        return
    kinds = types_of(i.parts)
    if len(kinds) == 2:
        d, c, a, b = kinds[0], kinds[1], "f16", "f16"
    else:
        d, a, b, c = kinds
    reads = ", ".join(e.read_all(operand, "b32") for operand in i.operands[1:])
    t = e.temporary()
    detail = (shape, a, b, c, d)
    e.line(f"{t} = multiply_tiles(resident, lanes, {reads}, {len(i.operands[0].items)}, {detail!r})")
    e.write_all(i.operands[0], t, "b32")


def _tile(lanes, registers, matrix, shape, kind):
    each = _element(kind)[1]
    where = coordinates(matrix, shape, len(registers), each)
    m, n, k = SHAPES[shape]
    rows, columns = {"a": (m, k), "b": (k, n)}.get(matrix, (m, n))
    bits = stacked(lanes, registers)
    values = (
        bits[..., None]
        if kind == "s32"
        else bits.view(np.float32)[..., None]
        if kind == "f32"
        else float_elements(bits, kind)
    )
    dtype = np.int32 if kind == "s32" else np.float32
    out = np.empty((lanes.warps, rows, columns), dtype)
    values = values.reshape(len(registers), lanes.warps, 32, each).swapaxes(0, 1)
    out[:, where[..., 0], where[..., 1]] = values.view(np.int32) if kind == "s32" else values
    return out


@runtime
def multiply_tiles(resident, lanes, a, b, c, count, detail):
    """wmma.mma: `count` registers of a · b + c, as 32-bit patterns. detail: shape, types of a, b, c and d."""
    shape, kind_a, kind_b, kind_c, kind_d = detail
    left, right = _tile(lanes, a, "a", shape, kind_a), _tile(lanes, b, "b", shape, kind_b)
    # Where only one of C and D is FP16, the sum is in float32.
    form = (*SHAPES[shape], kind_a, kind_b, kind_c if kind_c in (kind_d, "s32") else "f32")
    total = multiply(left, right, _tile(lanes, c, "c", shape, kind_c), form, resident.sum_rule)
    each = _element(kind_d)[1]
    where = coordinates("d", shape, count, each)
    picked = np.ascontiguousarray(total[:, where[..., 0], where[..., 1]].swapaxes(0, 1))
    picked = canonical(picked)
    if kind_d == "f16":
        picked = round_to_f16(picked).astype(np.float16)
    return list(picked.reshape(count, lanes.n, each).view(np.uint32)[:, :, 0])
