"""The row and the byte of a tile that each lane of one warp instruction accesses.

    tile_access(layout, "ldmatrix.x4", step=3).addresses

Each step accesses the next part of the tile; `steps` is the number of steps that cover all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gemm_lab_lessons.ch05.tile_layout import TileLayout
from gpu_simulator.hardware.bank_schedule import Schedule, ideal_wavefronts, schedule
from gpu_simulator.hardware.swizzle import LayoutError

# name -> (the kind for `schedule`, bytes per lane; 0: the size of the elements decides, see `access_width`)
ACCESSES = {
    "row store": ("store", 0),
    "column load": ("load", 0),
    "ldmatrix.x1": ("ldmatrix", 16),
    "ldmatrix.x4": ("ldmatrix", 16),
    "float4 store": ("store", 16),
    "cp.async": ("cp.async.cg", 16),
    "fragment store": ("store", 0),
}
SOURCE_ROW_BYTES = 4096  # distance of two rows in the row-major matrix that cp.async copies from
TOY_ACCESSES = ("row store", "column load")


@dataclass(frozen=True)
class TileAccess:
    """The lanes of one access.

    rows, bytes: the row and the byte in it, one integer per lane, -1 in idle lanes.   width: bytes per lane.
    """

    layout: TileLayout
    name: str
    step: int
    kind: str
    width: int
    rows: np.ndarray = field(repr=False)
    bytes: np.ndarray = field(repr=False)

    @property
    def active(self) -> np.ndarray:
        return self.rows >= 0

    @property
    def addresses(self) -> np.ndarray:
        """Byte address of each lane in shared memory, -1 in idle lanes."""
        return np.where(self.active, self.layout.address(np.maximum(self.rows, 0), np.maximum(self.bytes, 0)), -1)

    @property
    def source(self) -> np.ndarray:
        """Byte offset in global memory that each lane of a cp.async reads."""
        return np.maximum(self.rows, 0) * SOURCE_ROW_BYTES + np.maximum(self.bytes, 0)

    @property
    def schedule(self) -> Schedule:
        return schedule(self.kind, self.addresses, self.width, self.active, self.source, self.layout.banks)

    @property
    def ideal(self) -> int:
        return ideal_wavefronts(int(self.active.sum()), self.width, self.layout.banks)

    @property
    def says(self) -> str:
        """The part of the tile, such as “rows 0–15, columns 8–23”."""
        each = self.layout.element_bytes
        rows, first = self.rows[self.active], self.bytes[self.active]
        columns = first.min() // each, (first.max() + self.width - 1) // each
        return f"{_span('row', rows.min(), rows.max())}, {_span('column', *columns)}"


def _span(word: str, low: int, high: int) -> str:
    return f"{word} {low}" if low == high else f"{word}s {low}–{high}"


def access_width(layout: TileLayout, name: str) -> int:
    """Bytes per lane. A lane of a fragment store moves two neighbouring elements."""
    return ACCESSES[name][1] or layout.element_bytes * (2 if name == "fragment store" else 1)


def access_problem(layout: TileLayout, name: str) -> str:
    """A sentence that says why this access is not possible on this tile; empty if it is."""
    if name not in ACCESSES:
        return f"There is no access “{name}”; there are {', '.join(ACCESSES)}."
    if layout.banks == 4 and name not in TOY_ACCESSES:
        return f"The toy machine of 4 banks has only the accesses {' and '.join(TOY_ACCESSES)}."
    width = access_width(layout, name)
    if name == "fragment store" and layout.element_bytes not in (2, 4):
        return f"A fragment store writes two neighbours of FP16, BF16 or FP32; {layout.element} is another size."
    multiple, across = _piece(name, width) or (1, width)
    if layout.rows % multiple:
        return f"{name} takes {multiple} rows at a time; {layout.rows} rows are no multiple of {multiple}."
    if layout.row_bytes % across:
        return f"{name} takes {across} bytes of a row at a time; rows of {layout.row_bytes} bytes do not divide."
    if layout.row_stride % width:
        return (
            f"{name} needs addresses that are multiples of {width}, and row 1 begins at byte {layout.row_stride}: "
            f"it is misaligned. Pad by a multiple of {width} bytes."
        )
    swizzle = layout.swizzle
    if swizzle is not None and swizzle.bits and (moved := 1 << (swizzle.base + max(-swizzle.shift, 0))) < width:
        return (
            f"Swizzle({swizzle.bits}, {swizzle.base}, {swizzle.shift}) moves pieces of {moved} bytes, so the {width} "
            f"bytes of one lane would be torn apart; the lowest bit it changes has to be at least "
            f"{width.bit_length() - 1}."
        )
    return ""


def _piece(name: str, width: int) -> tuple[int, int] | None:
    """(rows, bytes of each) of the rectangle that one such access covers; None for an access to whole rows."""
    return {"ldmatrix.x1": (8, 16), "ldmatrix.x4": (16, 32), "fragment store": (8, 4 * width)}.get(name)


def steps(layout: TileLayout, name: str) -> int:
    """The number of accesses that cover the whole tile."""
    width, lanes = access_width(layout, name), layout.banks
    if name == "column load":
        return -(-layout.rows // lanes) * layout.columns
    if piece := _piece(name, width):
        high, wide = piece
        return layout.rows // high * (layout.row_bytes // wide)
    return -(-layout.rows * layout.row_bytes // (lanes * width))


def tile_access(layout: TileLayout, name: str, step: int = 0) -> TileAccess:
    """Step number `step` of the access `name`. Raises `LayoutError` if the access or the step is not possible."""
    if problem := access_problem(layout, name):
        raise LayoutError(problem)
    count = steps(layout, name)
    if not 0 <= step < count:
        raise LayoutError(f"{name} has the steps 0 to {count - 1} on this tile, not {step}.")
    width, lanes = access_width(layout, name), layout.banks
    lane = np.arange(lanes)
    if name == "column load":
        rows, byte = step // layout.columns * lanes + lane, step % layout.columns * layout.element_bytes + 0 * lane
    elif piece := _piece(name, width):
        high, wide = piece
        row, chunk = np.divmod(step, layout.row_bytes // wide)
        inner_row, inner = {
            "ldmatrix.x1": (np.where(lane < 8, lane, -1), 0 * lane),
            "ldmatrix.x4": (lane % 16, lane // 16 * 16),
            "fragment store": (lane // 4, lane % 4 * width),
        }[name]
        rows = np.where(inner_row < 0, -1, row * high + inner_row)
        byte = chunk * wide + inner
    else:
        rows, byte = np.divmod((step * lanes + lane) * width, layout.row_bytes)
    idle = (rows < 0) | (rows >= layout.rows)
    rows, byte = (np.where(idle, -1, x).astype(np.int64) for x in (rows, byte))
    return TileAccess(layout, name, step, ACCESSES[name][0], width, rows, byte)


def totals(layout: TileLayout, name: str) -> tuple[int, int]:
    """(wavefronts, ideal wavefronts) of the accesses that cover the whole tile."""
    every = [tile_access(layout, name, step) for step in range(steps(layout, name))]
    return sum(a.schedule.count for a in every), sum(a.ideal for a in every)
