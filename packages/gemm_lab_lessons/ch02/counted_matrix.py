"""Matrices that count what is read from them and written to them, and in which memory.

    A[i, k]              one element: counts in the memory where A lies, and as one register of the thread that takes it
    A[0:8, 4:8]          a tile: copied into the next faster memory, counts in the memory that it is read from
    A[0, 0] * B[0, 0]    a multiply-add; so is each element of a column of A times a row of B, tiles in registers
    D[i, j] = sum        a write to DRAM, and with += a read as well; D[0:8, 0:8] = sums writes a tile

`counted(m, n, k)` makes the three matrices of a product, `count(function, m, n, k, …)` lets a function multiply them.
The counts are those of `tiled_matmul` for the same tiles. Indices of a tile are its own: `a[0, 0]` is its corner.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gemm_lab_lessons.ch02.loop_orders import Cache
from gemm_lab_lessons.ch02.traffic_ledger import DRAM, REGISTERS, WHERE, Ledger
from gemm_lab_lessons.shared.tiled_matmul import Traffic
from gemm_results.errors import LabError
from gpu_simulator.argument_checks import as_whole, shown
from gpu_simulator.errors import SizeError

MOST_EDGE, MOST_PRODUCTS = 256, 1 << 21


class TileError(LabError):
    """A counted matrix was used in a way that has no meaning; the message says what would work."""


class Element(int):
    """A number that was read from A or B. The product with one of the other matrix is counted."""

    place: tuple[str, int, int]  # matrix, row, column
    ledger: Ledger

    def __mul__(self, other: Any) -> Any:
        if type(other) is not Element:
            return int(self) * other
        a, b = (self, other) if self.place[0] == "A" else (other, self)
        (name, row, k), (other_name, other_k, col) = a.place, b.place
        if name == other_name:
            raise TileError(f"{_at(a)} was multiplied by {_at(b)}; a product takes one element of A and one of B.")
        if k != other_k:
            raise _other_k(_at(a), k, _at(b), other_k)
        self.ledger.product(row, col, k)
        return int(self) * int(other)

    __rmul__ = __mul__


def _at(element: Element) -> str:
    name, row, col = element.place
    return f"{name}[{row}, {col}]"


def _other_k(a: str, k_of_a: int, b: str, k_of_b: int) -> TileError:
    return TileError(
        f"{a} was multiplied by {b}. In a product the column of A is the row of B, and {k_of_a} is not {k_of_b}."
    )


class CountedMatrix:
    """A or B, or a tile of it that lies in a faster memory. It can only be read."""

    __array_ufunc__ = None  # NumPy's operators leave the multiplication to `__mul__`

    def __init__(self, name: str, values: list[list[int]], rows: range, cols: range, level: int, ledger: Ledger):
        self.name, self.level, self.ledger = name, level, ledger
        self.rows, self.cols = len(rows), len(cols)
        self._values, self._row_range, self._col_range = values, rows, cols

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.cols

    def __getitem__(self, index: Any) -> Any:
        row, col = _indices(self, index)
        if type(row) is int and type(col) is int:
            row, col = self._row_range[row], self._col_range[col]
            self.ledger.element(self.name, self.level, row, col)
            element = Element(self._values[row][col])
            element.place, element.ledger = (self.name, row, col), self.ledger
            return element
        if self.level == REGISTERS:
            raise TileError(f"{self!r} is where multiply-adds take their operands; there is no faster memory.")
        rows = self._row_range[row : row + 1] if isinstance(row, int) else self._row_range[row]
        cols = self._col_range[col : col + 1] if isinstance(col, int) else self._col_range[col]
        self.ledger.tile(self.name, self.level, rows, cols)
        return CountedMatrix(self.name, self._values, rows, cols, self.level + 1, self.ledger)

    def __mul__(self, other: Any) -> np.ndarray:
        """A column of A times a row of B, both in registers: their outer product, as a NumPy array."""
        if not isinstance(other, CountedMatrix):
            raise TileError(f"{self!r} can be multiplied by a tile of the other matrix, not by {shown(other)}.")
        a, b = (self, other) if self.name == "A" else (other, self)
        if a.name == b.name:
            raise TileError(f"{a!r} was multiplied by {b!r}; a product takes a column of A and a row of B.")
        for tile in (a, b):
            if tile.level != REGISTERS:
                raise TileError(f"{tile!r}. A multiply-add takes registers: cut a thread's column and row first.")
        if a.cols != 1 or b.rows != 1:
            raise TileError(
                f"A's tile is {a.rows} × {a.cols} and B's is {b.rows} × {b.cols}. An outer product takes one column of "
                "A and one row of B."
            )
        k, k_of_b = a._col_range[0], b._row_range[0]
        if k != k_of_b:
            raise _other_k(f"column {k} of A", k, f"row {k_of_b} of B", k_of_b)
        self.ledger.products(a._row_range, b._col_range, k)
        return np.outer(a._numbers(), b._numbers())

    __rmul__ = __mul__

    def _numbers(self) -> list[int]:
        return [self._values[row][col] for row in self._row_range for col in self._col_range]

    def __setitem__(self, index: Any, value: Any) -> None:
        raise TileError(f"{self.name} is only read; the sums are stored in D.")

    def __array__(self, *args: Any, **named: Any) -> np.ndarray:
        raise TileError(f"{self!r} is read element by element, or tile by tile, so that the reads can be counted.")

    def __matmul__(self, other: Any) -> Any:
        raise TileError("There is no @ here: the loops that it stands for are what this is about.")

    __rmatmul__ = __matmul__
    __iter__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        where = "" if self.level == DRAM else f" {WHERE[self.level]}"
        return f"{self.name}[{_span(self._row_range)}, {_span(self._col_range)}]{where}"


class CountedResult:
    """D, in DRAM. It begins with zeros."""

    __array_ufunc__ = None
    name, level = "D", DRAM

    def __init__(self, rows: int, cols: int, ledger: Ledger):
        self.rows, self.cols, self.ledger = rows, cols, ledger
        self.values = np.zeros((rows, cols), np.int64)
        self.written = np.zeros((rows, cols), bool)

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows, self.cols

    def __getitem__(self, index: Any) -> Any:
        row, col = _indices(self, index)
        found = self.values[row, col]
        self.ledger.counts["dram_c_read"] += found.size
        self._touch(row, col)
        return int(found) if found.ndim == 0 else found.astype(float)  # so that sums of floats can be added in place

    def __setitem__(self, index: Any, value: Any) -> None:
        row, col = _indices(self, index)
        if type(value) is int and type(row) is int and type(col) is int:  # the common case, quickly
            self.values[row, col], self.written[row, col] = value, True
            self.ledger.counts["dram_c_write"] += 1
            self._touch(row, col)
            if self.ledger.steps is not None:
                self.ledger.step("write", "D", DRAM, range(row, row + 1), range(col, col + 1))
            return
        place = self.values[row, col]
        try:
            numbers = np.asarray(value)
        except ValueError:
            numbers = np.empty(0, object)
        if numbers.dtype.kind not in "bif" or not np.all(np.isfinite(numbers)) or np.any(numbers != np.rint(numbers)):
            raise TileError(f"D holds sums of whole numbers, and {shown(value)} is none.")
        if numbers.shape != place.shape:
            wanted, given = (" × ".join(map(str, shape)) or "one" for shape in (place.shape, numbers.shape))
            raise TileError(f"D[{_written(index)}] takes {wanted} sums, and was given {given}.")
        self.values[row, col] = numbers
        self.written[row, col] = True
        self.ledger.counts["dram_c_write"] += place.size
        self._touch(row, col)
        rows, cols = (
            range(length)[at] if isinstance(at, slice) else range(at, at + 1)
            for at, length in zip((row, col), self.shape, strict=True)
        )
        self.ledger.step("write", "D", DRAM, rows, cols)

    def _touch(self, row: Any, col: Any) -> None:
        if self.ledger.cache is not None and isinstance(row, int) and isinstance(col, int):
            self.ledger.cache.touch("D", row, col)

    def __repr__(self) -> str:
        return f"D[0:{self.rows}, 0:{self.cols}]"


def _indices(matrix: Any, index: Any) -> tuple[Any, Any]:
    """Row and column, each an int or a slice of a range that exists. Raises `TileError`."""
    if type(index) is tuple and len(index) == 2:
        row, col = index
        if type(row) is int and type(col) is int and 0 <= row < matrix.rows and 0 <= col < matrix.cols:
            return row, col  # the common case, quickly
    if not isinstance(index, tuple) or len(index) != 2:
        name = matrix.name
        raise TileError(f"{name} is asked for a row and a column, such as {name}[0, 0] or {name}[0:4, 0:4].")
    return _index(matrix, index, 0, matrix.rows, "row"), _index(matrix, index, 1, matrix.cols, "column")


def _index(matrix: Any, index: tuple[Any, Any], axis: int, length: int, word: str) -> Any:
    at, name = index[axis], matrix.name
    there = f"{name} has {word}s 0 to {length - 1}"
    if matrix.level != DRAM:
        there = f"this tile of {name} has {word}s 0 to {length - 1}, counted from its own corner"
    if isinstance(at, slice):
        given = (at.start, at.stop, at.step)
        parts = [None if part is None else as_whole(part) for part in given]
        if any(part is None and was is not None for part, was in zip(parts, given, strict=True)):
            raise TileError(f"{name}[{_written(index)}]: the ends of a slice are whole numbers.")
        if any(part is not None and part < 0 for part in parts) or parts[2] == 0:
            raise TileError(f"{name}[{_written(index)}]: {word}s are counted from 0, and never backwards.")
        found = slice(*parts)
        if not range(length)[found]:
            raise TileError(f"{name}[{_written(index)}] is empty: {there}.")
        return found
    whole = as_whole(at)
    if whole is None:
        raise TileError(f"{shown(at)} is no {word} of {name}; a {word} is a whole number or a slice.")
    if not 0 <= whole < length:
        raise TileError(f"There is no {name}[{_written(index)}]: {there}.")
    return whole


def _written(index: Any) -> str:
    def part(at: Any) -> str:
        if not isinstance(at, slice):
            return shown(at, 20)
        ends = [at.start, at.stop] if at.step is None else [at.start, at.stop, at.step]
        return ":".join("" if end is None else shown(end, 20) for end in ends)

    return ", ".join(part(at) for at in index)


def _span(indices: range) -> str:
    step = f":{indices.step}" if indices.step != 1 else ""
    return f"{indices.start}:{indices[-1] + 1 if indices else indices.stop}{step}"


# ---- A product ----


class Product:
    """The matrices of one product, and the function that is to multiply them."""

    def __init__(self, m: int, n: int, k: int, *, seed: int = 0, record: bool = False, cache: Cache | None = None):
        rng = np.random.default_rng(seed)
        a, b = rng.integers(-4, 5, (m, k)), rng.integers(-4, 5, (k, n))
        self.size, self.wanted, self.ledger = (m, n, k), a @ b, Ledger(record, cache)
        self.a = CountedMatrix("A", a.tolist(), range(m), range(k), DRAM, self.ledger)
        self.b = CountedMatrix("B", b.tolist(), range(k), range(n), DRAM, self.ledger)
        self.d = CountedResult(m, n, self.ledger)

    @property
    def matrices(self) -> tuple[CountedMatrix, CountedMatrix, CountedResult]:
        return self.a, self.b, self.d

    @property
    def wrong(self) -> str:
        """A sentence about the first wrong element of D; empty if D is A times B."""
        missing, wrong = ~self.d.written, self.d.values != self.wanted
        if not (missing.any() or wrong.any()):
            return ""
        m, n, k = self.size
        for places, says in ((missing, "was never stored"), (wrong, "is {}, and A times B has {} there")):
            if places.any():
                i, j = (int(at) for at in np.argwhere(places)[0])
                says = says.format(self.d.values[i, j], self.wanted[i, j])
                more = f" In all, {int(places.sum())} of {m * n} elements." if places.sum() > 1 else ""
                return f"D is {m} × {n}, with k = {k}. D[{i}, {j}] {says}.{more}"
        return ""


def counted(m: int, n: int, k: int) -> tuple[CountedMatrix, CountedMatrix, CountedResult]:
    """A (M, K) and B (K, N) with small random integers, and an empty D (M, N), all in DRAM and counting.

    Raises `SizeError` for a size that loops in Python would not finish in a few seconds.
    """
    return product_of(m, n, k).matrices


def product_of(m: int, n: int, k: int, **named: Any) -> Product:
    """A `Product` of this size. Raises what `counted` raises."""
    sizes = [as_whole(size) for size in (m, n, k)]
    if any(size is None or not 1 <= size <= MOST_EDGE for size in sizes):
        raise SizeError(f"{shown(m)} × {shown(n)} × {shown(k)}: m, n and k are whole numbers from 1 to {MOST_EDGE}.")
    if np.prod(sizes) > MOST_PRODUCTS:
        raise SizeError(f"{m} × {n} × {k} has more than {MOST_PRODUCTS:,} multiply-adds. Choose smaller matrices.")
    return Product(*sizes, **named)


class Count(NamedTuple):
    """What a function moved. `wrong` is empty if its product is right."""

    traffic: Traffic
    multiply_adds: int
    wrong: str

    dram = property(lambda self: self.traffic.dram)
    shared = property(lambda self: self.traffic.shared)
    registers = property(lambda self: self.traffic.registers)

    def __repr__(self) -> str:
        counters = (self.dram, self.shared, self.registers, self.multiply_adds)
        names = ("DRAM", "shared memory", "registers", "multiply-adds")
        said = "   ".join(f"{name} {counter:,}" for name, counter in zip(names, counters, strict=True))
        return f"{said}\nThis is not the product. {self.wrong}" if self.wrong else said


def count(function: Callable[..., Any], m: int, n: int, k: int, *args: Any, **named: Any) -> Count:
    """Let `function(A, B, D, *args, **named)` multiply two matrices of this size, and return what it moved."""
    if not callable(function):
        raise LabError(f"count takes a function of A, B and D first, not {shown(function)}.")
    product = product_of(m, n, k)
    function(*product.matrices, *args, **named)
    return Count(product.ledger.traffic, product.ledger.multiply_adds, product.wrong)
