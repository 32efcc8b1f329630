"""For every dense `mma.sync`: which lane and register hold which element, and the `ldmatrix` that loads it.

    Mma("m16n8k16", "bf16").holder("A", 9, 3)      (lane 5, register 1, element 1)

Source: PTX ISA, "Matrix Fragments for mma.m…" and "ldmatrix". One rule covers all shapes except Volta's m8n8k4 of FP16,
where four groups of eight lanes (a quad of the lower and one of the upper half-warp) compute one product each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from gpu_simulator.argument_checks import checked
from gpu_simulator.errors import SimulatorError

LANES = 32
BITS = {"f64": 64, "tf32": 32, "f16": 16, "bf16": 16, "s8": 8, "u8": 8, "e4m3": 8, "e5m2": 8, "s4": 4, "u4": 4, "b1": 1}
_8BIT, _4BIT = ("m8n8k16", "m16n8k16", "m16n8k32"), ("m8n8k32", "m16n8k32", "m16n8k64")
SHAPES = {
    "f16": ("m8n8k4", "m16n8k8", "m16n8k16"),
    "bf16": ("m16n8k8", "m16n8k16"),
    "tf32": ("m16n8k4", "m16n8k8"),
    "f64": ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"),
    "s8": _8BIT,
    "u8": _8BIT,
    "e4m3": _8BIT[1:],
    "e5m2": _8BIT[1:],
    "s4": _4BIT,
    "u4": _4BIT,
    "b1": ("m8n8k128", "m16n8k128", "m16n8k256"),
}
ACCUMULATORS = {
    "f16": ("f32", "f16"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "f64": ("f64",),
    "e4m3": ("f32", "f16"),
    "e5m2": ("f32", "f16"),
    **dict.fromkeys(("s8", "u8", "s4", "u4", "b1"), ("s32",)),
}


@dataclass(frozen=True)
class Mma:
    """One shape with one element type. If `accumulator` is None, it becomes the first in `ACCUMULATORS`.

    `coordinates(operand)` has shape (32 lanes, registers, elements of a register, 2): row and column. For FP16's m8n8k4
    the rows (columns for B) are numbered through the four products: row 8 · product + row of the product. Raises
    `SimulatorError` for a combination that does not exist.
    """

    shape: str
    dtype: str
    accumulator: str | None = None

    def __post_init__(self) -> None:
        if self.dtype not in SHAPES:
            raise SimulatorError(f"mma.sync has no element type “{self.dtype}”; it has {', '.join(SHAPES)}.")
        if self.shape not in SHAPES[self.dtype]:
            raise SimulatorError(
                f"mma.sync has no {self.shape} of {self.dtype}; it has {', '.join(SHAPES[self.dtype])}."
            )
        known = ACCUMULATORS[self.dtype]
        if self.accumulator is None:
            object.__setattr__(self, "accumulator", known[0])
        elif self.accumulator not in known:
            raise SimulatorError(
                f"mma.sync of {self.dtype} adds up in {' or '.join(known)}, not in {self.accumulator}."
            )

    @property
    def mnk(self) -> tuple[int, int, int]:
        """The shape as numbers: (16, 8, 16) for m16n8k16."""
        m, n, k = (int(part) for part in re.split("[nk]", self.shape[1:]))
        return m, n, k

    @property
    def quads(self) -> bool:
        """Whether it computes four 8 × 8 × 4 products, one for each quad pair."""
        return self.dtype == "f16" and self.shape == "m8n8k4"

    def extent(self, operand: str) -> tuple[int, int]:
        """Rows and columns of A (m, k), B (k, n), or C and D (m, n). Raises `SimulatorError` for another operand."""
        m, n, k = self.mnk
        found = {"A": (m, k), "B": (k, n), "C": (m, n), "D": (m, n)}.get(operand)
        if found is None:
            raise SimulatorError(f"An mma has the operands A, B, C and D, not “{operand}”.")
        return found

    def element_bits(self, operand: str) -> int:
        """The size of an element of A, B, C or D."""
        if operand in ("A", "B"):
            return BITS[self.dtype]
        return {"f16": 16, "f32": 32, "s32": 32, "f64": 64}[str(self.accumulator)]

    def per_register(self, operand: str) -> int:
        """Elements in one 32-bit register; 1 for FP64, whose registers have 64 bits."""
        return max(32 // self.element_bits(operand), 1)

    def coordinates(self, operand: str) -> np.ndarray:
        """(row, column) by lane, register and element: shape (32, registers, per_register, 2)."""
        return self._coordinates["C" if operand == "D" else operand]

    @checked
    def holder(self, operand: str, row: int, column: int) -> tuple[int, int, int]:
        """(lane, register, element) that holds an element. Raises `SimulatorError` for an element that is not in it."""
        rows, columns = self.extent(operand)
        if not (0 <= row < rows and 0 <= column < columns):
            raise SimulatorError(
                f"{operand} of {self.shape} is {rows} × {columns}; it has no element ({row}, {column})."
            )
        held = self.coordinates(operand)
        found = np.argwhere((held[..., 0] == row) & (held[..., 1] == column))
        lane, register, element = (int(n) for n in found[0])
        return lane, register, element

    @cached_property
    def _coordinates(self) -> dict[str, np.ndarray]:
        if self.quads:
            return _quad_pairs(str(self.accumulator))
        each_a, each_c = self.per_register("A"), self.per_register("C")
        (m, n, k) = self.mnk
        halves = m // 8
        lane, register, element = np.ix_(range(LANES), range(m * k // LANES // each_a), range(each_a))
        along_k = register // halves * 4 * each_a + lane % 4 * each_a + element
        a = _stack(lane // 4 + 8 * (register % halves), along_k)
        lane, register, element = np.ix_(range(LANES), range(k * n // LANES // each_a), range(each_a))
        b = _stack(register * 4 * each_a + lane % 4 * each_a + element, lane // 4)
        lane, register, element = np.ix_(range(LANES), range(m * n // LANES // each_c), range(each_c))
        number = register * each_c + element  # c0, c1, …
        c = _stack(lane // 4 + 8 * (number // 2), lane % 4 * 2 + number % 2)
        return {"A": a, "B": b, "C": c}


def _stack(row: np.ndarray, column: np.ndarray) -> np.ndarray:
    return np.stack(np.broadcast_arrays(row, column), axis=-1)


def _quad_pairs(accumulator: str) -> dict[str, np.ndarray]:
    """FP16's m8n8k4 with A row-major and B column-major; product q belongs to lanes 4q … 4q+3 and the same plus 16."""
    lane, register, element = np.ix_(range(LANES), range(2), range(2))
    within, product, upper = lane % 4 + 4 * (lane // 16), lane // 4 % 4, lane // 16
    number = register * 2 + element
    a, b = _stack(8 * product + within, number), _stack(number, 8 * product + within)
    if accumulator == "f16":
        lane, register, element = np.ix_(range(LANES), range(4), range(2))
        c = _stack(8 * product + within + 0 * register, register * 2 + element)
    else:
        lane, i, _ = np.ix_(range(LANES), range(8), range(1))
        c = _stack(8 * product + (lane & 1) + (i & 2) + 4 * upper[:, :1, :1], (i & 4) + (lane & 2) + (i & 1))
    return {"A": a, "B": b, "C": c}


# ---- ldmatrix and stmatrix ----


@lru_cache(maxsize=64)
@checked
def ldmatrix(count: int, transposed: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Which lane addresses which row, and which lane receives which element, of `ldmatrix.x{count}`.

    Returns two int arrays: for each lane the (matrix, row) that it addresses, shape (8 · count, 2); and for each lane,
    register and half the (matrix, row, column) that it receives, shape (32, count, 2, 3). `stmatrix` is the same with
    the lanes as senders. Elements have 16 bits; each row of a matrix is 16 contiguous bytes. `SimulatorError` is raised
    unless `count` is 1, 2 or 4.
    """
    if count not in (1, 2, 4):
        raise SimulatorError(f"ldmatrix and stmatrix move 1, 2 or 4 matrices, not {count}.")
    names = np.stack(np.divmod(np.arange(8 * count), 8), axis=-1)
    lane, register, half = np.ix_(range(LANES), range(count), range(2))
    row, column = lane // 4, lane % 4 * 2 + half
    row, column = (column, row) if transposed else (row, column)
    return names, np.stack(np.broadcast_arrays(register, row, column), axis=-1)


@dataclass(frozen=True)
class FragmentLoad:
    """The `ldmatrix` that fills one fragment from a tile in shared memory.

    `rows[lane]`, `chunks[lane]`: the row of the stored tile, and the 16-byte chunk in that row, whose address the lane
    gives; 8 · count lanes. The stored tile is A (m, k) row-major; or B as (n, k), "column-major"; or B as (k, n),
    "row-major", which needs `.trans`.
    """

    count: int
    transposed: bool
    rows: tuple[int, ...]
    chunks: tuple[int, ...]

    @property
    def opcode(self) -> str:
        """The instruction in PTX."""
        return f"ldmatrix.sync.aligned.m8n8.x{self.count}{'.trans' if self.transposed else ''}.shared.b16"


@checked
def fragment_load(mma: Mma, operand: str, stored: str = "") -> FragmentLoad:
    """How `ldmatrix` loads A, or B stored "column-major" (n rows of k, the default) or "row-major" (k rows of n).

    Raises `SimulatorError` where ldmatrix cannot load it.
    """
    stored = stored or ("row-major" if operand == "A" else "column-major")
    if operand not in ("A", "B") or mma.quads or BITS[mma.dtype] > 32:
        raise SimulatorError(
            f"ldmatrix does not load {operand} of {mma.shape} {mma.dtype}: it fills 32-bit registers "
            "with A or B of the m16n8 and integer shapes."
        )
    transposed = stored != ("row-major" if operand == "A" else "column-major")
    if transposed and (BITS[mma.dtype] != 16 or operand == "A"):
        raise SimulatorError(
            f"ldmatrix.trans exchanges 16-bit elements; {operand} of {mma.dtype} stored {stored} needs another way."
            if operand == "B"
            else "Store A row-major; its fragment then needs no .trans."
        )
    halves = mma.mnk[0] // 8 if operand == "A" else 1
    count = mma.coordinates(operand).shape[1]
    matrix, row = np.divmod(np.arange(8 * count), 8)
    if transposed:
        rows, chunks = matrix * 8 + row, 0 * row
    else:
        rows, chunks = matrix % halves * 8 + row, matrix // halves
    return FragmentLoad(count, transposed, tuple(rows.tolist()), tuple(chunks.tolist()))
