"""The matrices of a launch as the zoom draws them: which element lies at which address of global memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpu_simulator.hardware.tensor_map import TensorMap


@dataclass(frozen=True)
class Matrix:
    """One operand. rows, columns: of the matrix in the product.   across: whether its columns are contiguous in memory.

    first: the address of its first byte, from the beginning of global memory.   size: bytes of an element.
    """

    name: str
    rows: int
    columns: int
    across: bool
    size: int
    first: int

    @property
    def end(self) -> int:
        return self.first + self.rows * self.columns * self.size

    @property
    def line(self) -> int:
        """Elements that are contiguous in memory: those of a row, or of a column."""
        return self.rows if self.across else self.columns

    def has(self, addresses: np.ndarray) -> np.ndarray:
        return (addresses >= self.first) & (addresses < self.end)

    def place(self, addresses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(rows, columns) of the elements at some addresses."""
        major, minor = np.divmod((addresses - self.first) // self.size, self.line)
        return (minor, major) if self.across else (major, minor)

    def reach(self, addresses: np.ndarray, width: int) -> tuple[int, int, int, int]:
        """(first row, last row, first column, last column) of all elements that accesses of `width` bytes touch."""
        last = np.minimum(addresses + max(width, self.size) - self.size, self.end - self.size)
        rows, columns = self.place(np.concatenate([addresses, last]))
        return int(rows.min()), int(rows.max()), int(columns.min()), int(columns.max())

    def plain(self) -> dict:
        return {
            "name": self.name,
            "rows": self.rows,
            "cols": self.columns,
            "across": self.across,
            "size": self.size,
            "first": self.first,
        }


def matrices_of(run, launch) -> list[Matrix]:
    """A, B, C and D as far as the launch has them, with C left out where it is the same array as D."""
    problem, m, n, k = run.kernel.problem, *run._size_counted()
    if run.report is not None:
        m, n, k = run.m, run.n, run.k
    maps, found = dict(problem.tensor_maps), {}
    for argument, name in zip(launch.args, problem.arguments, strict=False):
        array = argument.array if isinstance(argument, TensorMap) else argument
        operand = maps[name].array if name in maps else name
        if not isinstance(array, np.ndarray) or operand not in ("a", "b", "c", "d") or operand in found:
            continue
        for (_, buffer), first in zip(launch.buffers, launch.memory.places, strict=True):
            if buffer is array or (buffer.size and np.shares_memory(buffer, array)):
                rows, columns = {"a": (m, k), "b": (k, n)}.get(operand, (m, n))
                layout = {"a": problem.layout_a, "b": problem.layout_b}.get(operand, "row")
                if buffer.nbytes == rows * columns * buffer.itemsize:
                    found[operand] = Matrix(operand.upper(), rows, columns, layout != "row", buffer.itemsize, first)
                break
    return [found[name] for name in "abcd" if name in found]
