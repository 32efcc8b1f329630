"""The six orders of the loops over i, j and k: same product, same arithmetic, different memory traffic.

In the innermost loop, the element of one matrix does not change, so it stays in a register. The other two matrices are
read along rows (neighbours share a cache line) or down columns (every element is in another line). The model counts
accesses and fetched lines; it measures no time. Its cache is small and fully associative, by default with lines of
64 bytes, and evicts the least recently used line.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from gemm_lab_lessons.shared.tiled_matmul import as_matrices
from gemm_results.errors import LabError

INDICES = {"A": "ik", "B": "kj", "C": "ij"}  # row index, column index


@dataclass(frozen=True)
class LoopOrder:
    """The product and the memory traffic of one order. Counts are per matrix: "A", "B", "C"."""

    order: str  # "ikj": i outermost, j innermost
    product: np.ndarray  # shape (M, N)
    in_register: str  # the matrix whose element is the same throughout the innermost loop
    along_rows: tuple[str, ...]  # matrices that the innermost loop reads along a row
    down_columns: tuple[str, ...]  # matrices that the innermost loop reads down a column
    accesses: Mapping[str, int]  # elements read or written through the cache
    lines: Mapping[str, int]  # cache lines fetched from memory

    @property
    def lines_total(self) -> int:
        return sum(self.lines.values())


def loop_orders(
    a: np.ndarray, b: np.ndarray, *, cache_lines: int = 16, line_bytes: int = 64, element_bytes: int = 8
) -> dict[str, LoopOrder]:
    """All six orders for row-major A (M, K) and B (K, N), keyed "ijk", "ikj", …; each row starts a new line.

    Pure Python: sizes of 16 to 48 take a moment, larger ones are slow. The cache is small on purpose, so that a column
    of such a matrix does not fit: with 16 lines and n = 32 the counts behave like those of a large problem. Raises
    `LabError` for a cache without lines or lines that do not hold whole elements, `SizeError` if A and B do not fit.
    """
    if min(cache_lines, line_bytes, element_bytes) < 1 or line_bytes % element_bytes:
        raise LabError("The cache needs at least one line, and a line a whole number of elements.")
    a, b = as_matrices(a, b)
    per_line = line_bytes // element_bytes
    return {order: _run(order, a, b, cache_lines, per_line) for order in map("".join, permutations("ijk"))}


def _run(order: str, a: np.ndarray, b: np.ndarray, cache_lines: int, per_line: int) -> LoopOrder:
    outer, middle, inner = order
    held = next(name for name, indices in INDICES.items() if inner not in indices)
    extent = {"i": a.shape[0], "j": b.shape[1], "k": a.shape[1]}
    matrices = {"A": a.tolist(), "B": b.tolist(), "C": [[0] * extent["j"] for _ in range(extent["i"])]}
    cache = Cache(cache_lines, per_line)
    streamed = [name for name in INDICES if name != held]
    for x in range(extent[outer]):
        for y in range(extent[middle]):
            at = {outer: x, middle: y}
            cache.touch(held, *(at[index] for index in INDICES[held]))  # once; then the element is in a register
            for z in range(extent[inner]):
                at[inner] = z
                for name in streamed:
                    cache.touch(name, at[INDICES[name][0]], at[INDICES[name][1]])
                i, j, k = at["i"], at["j"], at["k"]
                matrices["C"][i][j] += matrices["A"][i][k] * matrices["B"][k][j]
    return LoopOrder(
        order=order,
        product=np.array(matrices["C"], a.dtype),
        in_register=held,
        along_rows=tuple(name for name in streamed if INDICES[name][1] == inner),
        down_columns=tuple(name for name in streamed if INDICES[name][0] == inner),
        accesses=cache.accesses,
        lines=cache.fetched,
    )


class Cache:
    """A fully associative cache that evicts the least recently used line; reads and writes count the same.

    `fetched` and `accesses` count for each matrix that `touch` has named. Each row of a matrix starts a new line.
    """

    def __init__(self, lines: int, per_line: int):
        self.size, self.per_line = lines, per_line
        self.present: OrderedDict[tuple[str, int, int], None] = OrderedDict()
        self.accesses: Counter[str] = Counter()
        self.fetched: Counter[str] = Counter()

    def touch(self, name: str, row: int, column: int) -> None:
        line = (name, row, column // self.per_line)
        self.accesses[name] += 1
        if line in self.present:
            self.present.move_to_end(line)
            return
        self.fetched[name] += 1
        self.present[line] = None
        if len(self.present) > self.size:
            self.present.popitem(last=False)
