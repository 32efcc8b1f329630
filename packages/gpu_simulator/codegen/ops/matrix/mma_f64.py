"""mma.sync of float64: the products are added one after the other along k, each with one rounding."""

from __future__ import annotations

import numpy as np

from gpu_simulator.arithmetic.rounding import fma_f64
from gpu_simulator.hardware.mma_layouts import SHAPES, Mma
from gpu_simulator.ptx.ir import items_of
from gpu_simulator.runtime import runtime

PRODUCTS = {shape: Mma(shape, "f64") for shape in SHAPES["f64"]}  # all but m8n8k4 need sm_90


def _places(matrix: str, shape: str) -> np.ndarray:
    """(row, column) for each register and lane of "a", "b", "c" or "d": shape (registers, 32, 2)."""
    return PRODUCTS[shape].coordinates(matrix.upper())[:, :, 0].swapaxes(0, 1)


def emit(e, i) -> None:
    """Generate mma.sync.aligned.SHAPE.row.col.f64.f64.f64.f64."""
    parts = i.parts
    shape = next((p for p in parts if p in PRODUCTS), None)
    if shape is None or parts[4:6] != ("row", "col") or parts[6:] != ("f64",) * 4:
        raise e.unsupported("this shape or these types")
    emit_product(e, i, shape)


def emit_product(e, i, shape: str) -> None:
    """Generate the product of a shape; the operands are the registers of D, A, B and C."""
    for operand, matrix in zip(i.operands, "dabc", strict=True):
        found, wanted = len(items_of(operand)), len(_places(matrix, shape))
        if found != wanted:
            raise e.unsupported(f"it names {found} registers where {matrix} has {wanted}")
    reads = ", ".join(e.read_all(operand, "f64") for operand in i.operands[1:])
    t = e.temporary()
    e.line(f"{t} = multiply_f64(lanes, {shape!r}, {reads})")
    e.write_all(i.operands[0], t, "f64")


def _tile(lanes, registers, matrix: str, shape: str) -> np.ndarray:
    """The matrix that the registers of each warp hold: (warps, rows, columns)."""
    where = _places(matrix, shape)
    out = np.empty((lanes.warps, *PRODUCTS[shape].extent(matrix.upper())))
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
    return [np.ascontiguousarray(total[:, place[:, 0], place[:, 1]]).reshape(-1) for place in _places("d", shape)]
