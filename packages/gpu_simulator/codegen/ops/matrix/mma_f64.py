"""mma.sync of float64: the products are added one after the other along k, each with one rounding."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from gpu_simulator.arithmetic.rounding import fma_f64
from gpu_simulator.ptx.ir import Vector
from gpu_simulator.runtime import runtime

# (m, n, k). Source: PTX ISA, "mma", the shapes of .f64; all but the first need sm_90.
SHAPES = {"m8n8k4": (8, 8, 4), "m16n8k4": (16, 8, 4), "m16n8k8": (16, 8, 8), "m16n8k16": (16, 8, 16)}


@lru_cache(maxsize=16)
def coordinates(matrix: str, shape: str) -> np.ndarray:
    """(row, column) for each register and lane: (registers, 32, 2). Source: PTX ISA, the fragment figures of .f64."""
    m, n, k = SHAPES[shape]
    lane = np.arange(32)
    group, inside = lane // 4, lane % 4
    if matrix == "a":  # eight rows down first, then four columns to the right
        number = np.arange(m * k // 32)[:, None]
        row, column = group + 8 * (number % (m // 8)), inside + 4 * (number // (m // 8))
    elif matrix == "b":
        number = np.arange(n * k // 32)[:, None]
        row, column = inside + 4 * number, group
    else:
        number = np.arange(m * n // 32)[:, None]
        row, column = group + 8 * (number // 2), 2 * inside + number % 2
    return np.stack(np.broadcast_arrays(row, column), -1)


def emit(e, i) -> None:
    """Generate mma.sync.aligned.SHAPE.row.col.f64.f64.f64.f64."""
    parts = i.parts
    shape = next((p for p in parts if p in SHAPES), None)
    if shape is None or parts[4:6] != ("row", "col") or parts[6:] != ("f64",) * 4:
        raise e.unsupported("this shape or these types")
    emit_product(e, i, shape, [o.items if type(o) is Vector else (o,) for o in i.operands])


def emit_product(e, i, shape: str, vectors: list) -> None:
    """Generate the product of a shape. vectors: the registers of D, A, B and C."""
    for vector, matrix in zip(vectors, "dabc", strict=True):
        wanted = len(coordinates(matrix, shape))
        if len(vector) != wanted:
            raise e.unsupported(f"it names {len(vector)} registers where {matrix} has {wanted}")
    reads = ", ".join("(" + ", ".join(e.read(x, "f64") for x in v) + ",)" for v in vectors[1:])
    t = e.temporary()
    e.line(f"{t} = multiply_f64(lanes, {shape!r}, {reads})")
    for number, item in enumerate(vectors[0]):
        e.write(item, f"{t}[{number}]", "f64")


def _tile(lanes, registers, matrix: str, shape: str) -> np.ndarray:
    """The matrix that the registers of each warp hold: (warps, rows, columns)."""
    m, n, k = SHAPES[shape]
    where = coordinates(matrix, shape)
    out = np.empty((lanes.warps, *{"a": (m, k), "b": (k, n)}.get(matrix, (m, n))))
    for place, register in zip(where, registers, strict=True):
        out[:, place[:, 0], place[:, 1]] = np.broadcast_to(register, lanes.n).reshape(-1, 32)
    return out


@runtime
def multiply_f64(lanes, shape, a, b, c):
    """The registers of a · b + c, each (lanes.n,)."""
    left, right, total = (
        _tile(lanes, registers, matrix, shape) for registers, matrix in ((a, "a"), (b, "b"), (c, "c"))
    )
    for k in range(left.shape[2]):
        x, y = np.broadcast_arrays(left[:, :, k : k + 1], right[:, k : k + 1, :])
        total = fma_f64(x, y, total)
    return [np.ascontiguousarray(total[:, place[:, 0], place[:, 1]]).reshape(-1) for place in coordinates("d", shape)]
