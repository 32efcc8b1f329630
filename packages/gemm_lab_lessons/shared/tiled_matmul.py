"""Matrix multiplication in block, warp and thread tiles: plain loops that count the elements they move.

    for each block tile     DRAM -> shared memory        a tile of A and a tile of B
      for each warp tile    shared memory -> the warp    a slice of both
        for each thread     -> registers                 a column of A and a row of B for every k
          multiply

`tiled_matmul` runs these loops; `closed_form` computes the same counts by formulas; `walk` yields the tiles for a
picture. Sizes are (m, n, k) in elements. Row-major A is (M, K), row-major B is (K, N).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np

from gemm_results.errors import LabError
from gpu_simulator.argument_checks import as_whole, checked, shown
from gpu_simulator.errors import SizeError

# What takes about half a minute: multiply-adds by NumPy (first number) or one by one in Python (second), and tiles.
MOST_PRODUCTS, MOST_SINGLE_PRODUCTS, MOST_TILES = 2**31, 2**26, 3_000_000
MOST_EDGE = 65536


class Tile(NamedTuple):
    """One tile of the iteration space; `m`, `n` and `k` are ranges of indices into the whole matrices."""

    level: str  # "block", "warp" or "thread"
    m: range
    n: range
    k: range


@dataclass(frozen=True)
class Traffic:
    """Elements moved at each level.

    dram_*      between DRAM and fast memory: A and B are read; C is written, and read again if a partial sum was stored
    shared_*    read from shared memory by warps; a value that several lanes of a warp use is read once
    register_*  written into registers of threads; lanes that use the same value each keep a copy
    """

    dram_a: int = 0
    dram_b: int = 0
    dram_c_read: int = 0
    dram_c_write: int = 0
    shared_a: int = 0
    shared_b: int = 0
    register_a: int = 0
    register_b: int = 0

    @property
    def dram(self) -> int:
        return self.dram_a + self.dram_b + self.dram_c_read + self.dram_c_write

    @property
    def shared(self) -> int:
        return self.shared_a + self.shared_b

    @property
    def registers(self) -> int:
        return self.register_a + self.register_b


@dataclass(frozen=True)
class TiledResult:
    """The result of `tiled_matmul`."""

    product: np.ndarray  # shape (M, N), float64, or int64 for integers
    traffic: Traffic
    steps: Mapping[str, int]  # number of "block", "warp" and "thread" tiles, and of each "multiply-add"


@checked
def tiled_matmul(
    a: np.ndarray,
    b: np.ndarray,
    *,
    block: tuple[int, int, int] | None = None,
    warp: tuple[int, int, int] | None = None,
    thread: tuple[int, int] | None = None,
    order: str = "mnk",
    compute: str = "numpy",
) -> TiledResult:
    """A (M, K) times B (K, N) by nested tiles, counting every element moved.

    no tiles   every operand is read from DRAM when it is needed
    block      alone: every thread computes one element of C and reads its operands from shared memory
    warp       a warp reads its slices once; a lane still takes both operands of each product into its registers
    thread     registers are private: a thread reads m + n values for m*n products
    order      loops over block tiles, outermost first. If k is last, each (m, n) is a thread block of its own that
               starts with nothing loaded; otherwise one processor keeps one tile of each matrix
    compute    "loops": scalar innermost loops; "numpy": the innermost tile at once. The counts are the same

    Raises `SizeError` if a tile does not divide the level above, naming sizes that do, and for products that would take
    minutes; `LabError` for tiles, an order or matrices that are not valid.
    """
    a, b = as_matrices(a, b)
    if compute not in ("loops", "numpy"):
        raise LabError(f"compute is {compute!r}; choose 'loops' or 'numpy'.")
    (m, k), n = a.shape, b.shape[1]
    _check(m, n, k, block, warp, thread, order)
    _require_patience(m * n * k, compute, (m, n, k), block, warp, thread)
    run = _Run(a, b, compute)
    if block is None:
        run.naive()
    else:
        for tile in _split(Tile("matrix", range(m), range(n), range(k)), block, order, "block"):
            run.enter_block(tile, new_block=order[-1] == "k")
            for part in _split(tile, warp, "kmn", "warp") if warp else (tile,):
                run.enter_warp(part)
                for piece in _split(part, (*thread, len(part.k)), "mnk", "thread") if thread else ():
                    run.multiply_thread(piece)
                if not thread:
                    run.multiply_lanes(part)
    return TiledResult(run.c, Traffic(**run.counts), run.steps)


class _Run:
    """The matrices, the tiles that are loaded, and the counters."""

    def __init__(self, a: np.ndarray, b: np.ndarray, compute: str):
        self.a, self.b, self.loops = a, b, compute == "loops"
        self.c = np.zeros((a.shape[0], b.shape[1]), a.dtype)
        self.counts = dict.fromkeys(Traffic.__dataclass_fields__, 0)
        self.steps = {"block": 0, "warp": 0, "thread": 0, "multiply-add": 0}
        self.held: dict[str, tuple] = {}
        self.started: set[tuple] = set()

    def naive(self) -> None:
        """Multiply without tiles: every product reads both operands from DRAM; the sum stays in a register."""
        (rows, depth), columns = self.a.shape, self.b.shape[1]
        for i in range(rows):
            for j in range(columns):
                for source, register in (("dram_a", "register_a"), ("dram_b", "register_b")):
                    self.counts[source] += depth
                    self.counts[register] += depth
                self._multiply(Tile("thread", range(i, i + 1), range(j, j + 1), range(depth)))
                self.counts["dram_c_write"] += 1

    def enter_block(self, tile: Tile, new_block: bool) -> None:
        """Count DRAM -> shared memory for the operands of a block tile that are not loaded already."""
        self.steps["block"] += 1
        output = (tile.m, tile.n)
        if self.held.get("c") != output:
            if new_block:
                self.held.clear()
            if output in self.started:
                self.counts["dram_c_read"] += len(tile.m) * len(tile.n)
            self.counts["dram_c_write"] += len(tile.m) * len(tile.n)  # the sum is written once when the tile is left
            self.started.add(output)
            self.held["c"] = output
        for name, rows, columns in (("a", tile.m, tile.k), ("b", tile.k, tile.n)):
            if self.held.get(name) != (rows, columns):
                self.counts[f"dram_{name}"] += len(rows) * len(columns)
                self.held[name] = (rows, columns)

    def enter_warp(self, part: Tile) -> None:
        """Count shared memory -> the warp. Without warp tiles, `multiply_lanes` counts these reads."""
        if part.level == "warp":
            self.steps["warp"] += 1
            self.counts["shared_a"] += len(part.m) * len(part.k)
            self.counts["shared_b"] += len(part.k) * len(part.n)

    def multiply_thread(self, piece: Tile) -> None:
        """Multiply one thread tile: for every k, a column of A and a row of B go into the thread's registers."""
        self.steps["thread"] += 1
        self.counts["register_a"] += len(piece.m) * len(piece.k)
        self.counts["register_b"] += len(piece.k) * len(piece.n)
        self._multiply(piece)

    def multiply_lanes(self, part: Tile) -> None:
        """Multiply without thread tiles: each product takes two operands into registers of a thread.

        Without warp tiles, each of them is read from shared memory for this product alone.
        """
        alone = ("shared_a", "shared_b") if part.level == "block" else ()
        for name in (*alone, "register_a", "register_b"):
            self.counts[name] += len(part.m) * len(part.n) * len(part.k)
        self._multiply(part)

    def _multiply(self, t: Tile) -> None:
        self.steps["multiply-add"] += len(t.m) * len(t.n) * len(t.k)
        if self.loops:
            for k in t.k:
                for i in t.m:
                    for j in t.n:
                        self.c[i, j] += self.a[i, k] * self.b[k, j]
        else:
            m, n, k = (slice(r.start, r.stop) for r in (t.m, t.n, t.k))
            self.c[m, n] += self.a[m, k] @ self.b[k, n]


def closed_form(
    m: int,
    n: int,
    k: int,
    *,
    block: tuple[int, int, int] | None = None,
    warp: tuple[int, int, int] | None = None,
    thread: tuple[int, int] | None = None,
    order: str = "mnk",
) -> Traffic:
    """The counts of `tiled_matmul` by formulas: for example, with tiles of m rows, B is read M/m times."""
    _check(m, n, k, block, warp, thread, order)
    every = m * n * k
    if block is None:
        return Traffic(dram_a=every, dram_b=every, dram_c_write=m * n, register_a=every, register_b=every)
    bm, bn, bk = block
    trips = {"m": m // bm, "n": n // bn, "k": k // bk}
    own = order[-1] == "k"
    c_visits = _fetches("mn", order, trips)
    return Traffic(
        dram_a=bm * bk * (prod(trips.values()) if own else _fetches("mk", order, trips)),
        dram_b=bk * bn * (prod(trips.values()) if own else _fetches("kn", order, trips)),
        dram_c_read=bm * bn * (c_visits - trips["m"] * trips["n"]),
        dram_c_write=bm * bn * c_visits,
        shared_a=every // (warp[1] if warp else 1),
        shared_b=every // (warp[0] if warp else 1),
        register_a=every // (thread[1] if thread else 1),
        register_b=every // (thread[0] if thread else 1),
    )


def _fetches(axes: str, order: str, trips: Mapping[str, int]) -> int:
    """How many tiles are loaded if one is kept: the trips of all loops down to the innermost one that changes it."""
    moving = [i for i, axis in enumerate(order) if axis in axes and trips[axis] > 1]
    return prod(trips[axis] for axis in order[: moving[-1] + 1]) if moving else 1


@checked
def walk(
    m: int,
    n: int,
    k: int,
    *,
    block: tuple[int, int, int],
    warp: tuple[int, int, int] | None = None,
    thread: tuple[int, int] | None = None,
    order: str = "mnk",
) -> Iterator[Tile]:
    """The tiles in the order in which `tiled_matmul` enters them: a block, its first warp, its threads, …

    Raises `SizeError` and `LabError` for the same tiles and orders as `tiled_matmul`.
    """
    _check(m, n, k, block, warp, thread, order)

    def tiles() -> Iterator[Tile]:
        for tile in _split(Tile("matrix", range(m), range(n), range(k)), block, order, "block"):
            yield tile
            for part in _split(tile, warp, "kmn", "warp") if warp else ():
                yield part
                yield from _split(part, (*thread, len(part.k)), "mnk", "thread") if thread else ()

    return tiles()


def _split(whole: Tile, sizes: tuple[int, int, int], order: str, level: str) -> Iterator[Tile]:
    """The tiles of `sizes` that make up `whole`, in the order of the loops."""
    cuts = {
        axis: [range(start, start + size) for start in getattr(whole, axis)[::size]]
        for axis, size in zip("mnk", sizes, strict=True)
    }
    m, n, k = (order.index(axis) for axis in "mnk")
    for corner in product(*(cuts[axis] for axis in order)):
        yield Tile(level, corner[m], corner[n], corner[k])


def as_matrices(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A (M, K) and B (K, N) as int64 if both are integers, else float64.

    Raises `LabError` if they are not matrices of real numbers, `SizeError` if they cannot be multiplied.
    """
    try:
        a, b = np.asarray(a), np.asarray(b)
    except (TypeError, ValueError, RuntimeError) as error:
        raise LabError(f"A and B have to be matrices of numbers: {error}.") from None
    if a.dtype.kind in "cOSUMm" or b.dtype.kind in "cOSUMm":
        raise LabError(f"A and B have to be matrices of real numbers, and not of {a.dtype} and {b.dtype}.")
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or 0 in (*a.shape, *b.shape):
        raise SizeError(
            f"A of shape {a.shape} and B of shape {b.shape} cannot be multiplied; A is (M, K), B is (K, N)."
        )
    exact = all(np.issubdtype(x.dtype, np.integer) for x in (a, b))
    dtype = np.int64 if exact else np.float64
    return a.astype(dtype), b.astype(dtype)


def _require_patience(products: int, compute: str, whole, block, warp, thread) -> None:
    """Raise `SizeError` for a product that would take the loops minutes."""
    smallest = (*thread, warp[2]) if thread else warp or block or whole
    tiles = prod(-(-extent // size) for extent, size in zip(whole, smallest, strict=True))
    most = MOST_SINGLE_PRODUCTS if compute == "loops" else MOST_PRODUCTS
    if products > most or tiles > MOST_TILES:
        size = " × ".join(f"{extent:,}" for extent in whole)
        raise SizeError(
            f"{size} is {products:,} multiply-adds in {tiles:,} tiles, minutes of work for these loops; "
            f"{most:,} in {MOST_TILES:,} tiles is the limit. Choose smaller matrices or larger tiles."
        )


def _check(m: int, n: int, k: int, block, warp, thread, order: str) -> None:
    if not 1 <= min(m, n, k) <= max(m, n, k) <= MOST_EDGE:
        raise SizeError(f"{m} × {n} × {k}: each has to be 1 to {MOST_EDGE:,}.")
    if sorted(order) != ["k", "m", "n"]:
        raise LabError(f"order is {order!r}; it is m, n and k in any order, such as 'mnk'.")
    if warp is not None and block is None:
        raise LabError("Warp tiles lie inside a block tile; give block=(m, n, k) too.")
    if thread is not None and warp is None:
        raise LabError("Thread tiles lie inside a warp tile; give warp=(m, n, k) too.")
    levels = [("the matrices", (m, n, k)), ("block", block), ("warp", warp), ("thread", thread)]
    for (outer, whole), (inner, sizes) in zip(levels, levels[1:], strict=False):
        if sizes is None:
            return
        count = 2 if inner == "thread" else 3
        if not isinstance(sizes, (tuple, list)) or len(sizes) != count or any((as_whole(x) or 0) < 1 for x in sizes):
            form = "(m, n)" if inner == "thread" else "(m, n, k)"
            raise LabError(f"{inner}={shown(sizes)} is not a tile; it is {form}, whole numbers of at least 1.")
        for axis, extent, size in zip("mnk", whole, sizes, strict=False):
            if extent % size:
                works = ", ".join(str(d) for d in range(1, min(extent, 2 * size) + 1) if extent % d == 0)
                owner = outer if outer == "the matrices" else f"the {outer} tile"
                raise SizeError(
                    f"A {inner} tile with {axis} = {size} does not divide {owner}, whose {axis} is {extent}; "
                    f"{axis} can be {works}."
                )
