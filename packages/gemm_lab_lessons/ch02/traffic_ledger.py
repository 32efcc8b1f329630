"""What a product of counted matrices moves: the counters of three memories, and the steps for a picture."""

from __future__ import annotations

import os
import sys
from typing import Any, NamedTuple

from gemm_lab_lessons.ch02.loop_orders import Cache
from gemm_lab_lessons.shared.tiled_matmul import Traffic
from gpu_simulator.errors import SizeError

DRAM, SHARED, WARP, REGISTERS = range(4)
WHERE = ("in DRAM", "in shared memory", "read by a warp", "in the registers of a thread")
MOST_STEPS = 40_000
MODEL = os.path.dirname(__file__)  # code that is not the learner's


class Step(NamedTuple):
    """One step of a function, for a picture. Ranges are indices into the whole matrices."""

    line: tuple[str, int]  # file and line of the code that did it
    kind: str  # "copy" a tile, "multiply", or "write" sums
    matrix: str  # "A" or "B" of a copy, "D" of the others
    level: int  # of the memory that a copy reads
    rows: range
    cols: range
    k: int  # of a multiply-add; -1 for other steps
    counters: tuple[int, int, int, int]  # DRAM, shared memory, registers, multiply-adds, up to and with this step
    reads: tuple[tuple[str, int, int, int], ...]  # single elements read before it: matrix, level, row, column


class Ledger:
    """What the matrices of one product have counted. `steps` is None unless they were asked to record."""

    def __init__(self, record: bool = False, cache: Cache | None = None):
        self.counts = dict.fromkeys(Traffic.__dataclass_fields__, 0)
        self.multiply_adds = 0
        self.largest = dict.fromkeys("AB", 0)  # elements of the largest tile in shared memory
        self.steps: list[Step] | None = [] if record else None
        self.cache = cache
        self._reads: list[tuple[str, int, int, int]] = []

    @property
    def traffic(self) -> Traffic:
        return Traffic(**self.counts)

    @property
    def counters(self) -> tuple[int, int, int, int]:
        """Elements that crossed from and to DRAM, out of shared memory, and into registers; and the multiply-adds."""
        c = self.counts
        dram = c["dram_a"] + c["dram_b"] + c["dram_c_read"] + c["dram_c_write"]
        return dram, c["shared_a"] + c["shared_b"], c["register_a"] + c["register_b"], self.multiply_adds

    def element(self, name: str, level: int, row: int, col: int) -> None:
        for field in _FIELDS[name, level]:
            self.counts[field] += 1
        if self.cache is not None and level == DRAM:
            self.cache.touch(name, row, col)
        if self.steps is not None and level != REGISTERS:
            self._reads.append((name, level, row, col))

    def tile(self, name: str, level: int, rows: range, cols: range) -> None:
        size = len(rows) * len(cols)
        if level == DRAM:
            self.largest[name] = max(self.largest[name], size)
        self.counts[(f"dram_{name.lower()}", f"shared_{name.lower()}", f"register_{name.lower()}")[level]] += size
        self.step("copy", name, level, rows, cols)

    def product(self, row: int, col: int, k: int) -> None:
        self.multiply_adds += 1
        if self.steps is not None:
            self.step("multiply", "D", REGISTERS, range(row, row + 1), range(col, col + 1), k)

    def products(self, rows: range, cols: range, k: int) -> None:
        self.multiply_adds += len(rows) * len(cols)
        self.step("multiply", "D", REGISTERS, rows, cols, k)

    def step(self, kind: str, name: str, level: int, rows: range, cols: range, k: int = -1) -> None:
        if self.steps is None:
            return
        if len(self.steps) == MOST_STEPS:
            raise SizeError(
                f"This takes more than {MOST_STEPS:,} steps, too many for a picture. Choose smaller matrices."
            )
        self.steps.append(Step(_caller(), kind, name, level, rows, cols, k, self.counters, tuple(self._reads)))
        self._reads.clear()


# What the read of one element counts, by matrix and level: in its memory, and as a register that is loaded.
_FIELDS = {
    (name, level): (*((f"{memory}_{name.lower()}",) if memory else ()), f"register_{name.lower()}")
    for name in "AB"
    for level, memory in ((DRAM, "dram"), (SHARED, "shared"), (WARP, ""))
} | {(name, REGISTERS): () for name in "AB"}


def _caller() -> tuple[str, int]:
    """File and line of the innermost frame outside the modules of this folder: the learner's line."""
    frame: Any = sys._getframe(2)
    while os.path.dirname(frame.f_code.co_filename) == MODEL:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
