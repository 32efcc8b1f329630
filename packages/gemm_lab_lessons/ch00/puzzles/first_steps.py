"""The puzzles of notebook 00: a product by three loops, its work, the places of threads, and sectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gemm_lab.notebook.puzzle import Facts, Right, register, register_law
from gemm_lab.notebook.trying import Missed, call, expect

BLOCK = 32  # BLOCK_M and BLOCK_N of simt/01_naive
_PRODUCTS = ("matmul", "dot", "inner", "einsum", "tensordot", "vdot")


class _WithoutProduct(np.ndarray):
    """An array that refuses NumPy's own matrix products."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        _refuse(ufunc.__name__)
        plain = [np.asarray(value) if isinstance(value, _WithoutProduct) else value for value in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        _refuse(function.__name__)
        return super().__array_function__(function, types, args, kwargs)

    def dot(self, other: Any, out: Any = None) -> Any:
        _refuse("dot")


def _refuse(name: str) -> None:
    if name in _PRODUCTS:
        raise Missed(f"“{name}” is the library's own product. Write the loops, so that you see every step of the sum.")


@register(
    "00_multiply",
    title="A product by three loops",
    task="Write multiply(A, B): the product of two matrices, with loops over the rows of A, the columns of B, and the "
    "terms of each sum.",
    hint="The two outer loops choose an element D[i, j]. The innermost loop runs over p and adds A[i, p] * B[p, j] to "
    "it. Return D when all loops have ended.",
)
def multiply(answer: Callable[[Any, Any], Any]) -> Facts:
    random = np.random.default_rng(0)
    shapes = [(1, 1, 1), (2, 2, 3), (2, 2, 2), (3, 5, 4), (5, 3, 2), (1, 6, 7)]
    for m, n, k in shapes:
        a, b = random.integers(-4, 5, (m, k)), random.integers(-4, 5, (k, n))
        before = a.copy(), b.copy()
        try:
            found = call(answer, a.view(_WithoutProduct), b.view(_WithoutProduct))
        except RecursionError:
            raise Missed("Your function calls itself without end.") from None
        _compare_product(found, a, b)
        if not (np.array_equal(a, before[0]) and np.array_equal(b, before[1])):
            raise Missed("Your function changed A or B; put the sums into a matrix of their own.")
    return [("products tried", str(len(shapes)))]


def _compare_product(found: Any, a: np.ndarray, b: np.ndarray) -> None:
    right, asked = a @ b, f"A {a.shape[0]} × {a.shape[1]} and B {b.shape[0]} × {b.shape[1]}"
    if found is None:
        raise Missed("Your function returned nothing; end it with return D.")
    found = np.asarray(found)
    if found.shape != right.shape:
        raise Missed(
            f"For {asked} the result has the shape {found.shape}; it needs a row for each row of A and a column for "
            f"each column of B: {right.shape}."
        )
    if not np.array_equal(found, right):
        i, j = np.argwhere(found != right)[0]
        terms = " + ".join(f"{x}·{y}" for x, y in zip(a[i], b[:, j], strict=True))
        raise Missed(f"For {asked}, D[{i}, {j}] is {found[i, j]:g}; it should be {terms} = {right[i, j]}.")


@register_law(
    "00_flop",
    title="The work of a product",
    task="Write flop(m, n, k): the floating-point operations of a product of an m × k matrix and a k × n matrix.",
    hint="How many elements does D have? How many multiply-adds does one of them take? Each of these counts as two.",
    cases=[(1, 1, 1), (2, 2, 3), (64, 64, 64), (4, 8, 16), (1, 100, 10), (256, 128, 8)],
    tried="sizes tried",
    facts=[("64 × 64 × 64", f"{2 * 64**3:,} FLOP")],
)
def flop(m: int, n: int, k: int) -> Right:
    why = f"D has {m} × {n} elements, and each is a sum of {k} products. The first product counts as added to zero."
    return 2 * m * n * k, why


@register_law(
    "00_blocks",
    title="Enough blocks for every element",
    task="Write blocks(m, n): how many blocks of 32 × 32 elements it takes to cover a D of m × n elements.",
    hint="Count the blocks along one side first. 33 rows need two blocks, although the second has only one row to do. "
    "In Python, -(-33 // 32) rounds up.",
    cases=[(32, 32), (256, 256), (33, 32), (1, 1), (100, 100), (64, 96), (31, 65), (4096, 4096)],
    tried="sizes tried",
)
def blocks(m: int, n: int) -> Right:
    rests = [side for side in (m, n) if side % BLOCK]
    why = f"{rests[0]} is no multiple of 32, and the rest needs a block, too." if rests else ""
    return -(-m // BLOCK) * -(-n // BLOCK), why


@register_law(
    "00_who",
    title="The thread of an element",
    task="Write who(row, col): the tuple (block_x, block_y, thread) of the thread that computes D[row, col].",
    hint="Dividing by 32 tells which block, the remainder tells which place within it. Within a block, thread % 32 is "
    "the row and thread // 32 is the column. So which number has to be multiplied by 32?",
    cases=[
        *((0, 0), (1, 0), (0, 1), (31, 31), (32, 0), (0, 32), (40, 3), (33, 70)),
        *np.random.default_rng(1).integers(0, 4096, (40, 2)).tolist(),
    ],
    tried="elements tried",
)
def who(row: int, col: int) -> Right:
    return (col // BLOCK, row // BLOCK, row % BLOCK + BLOCK * (col % BLOCK)), _where


def _where(found: Any) -> str:
    """A sentence that says which element the thread works on that the learner named."""
    try:
        block_x, block_y, thread = (int(value) for value in found)
    except (TypeError, ValueError):
        return "Return three whole numbers: block_x, block_y, thread."
    if not 0 <= thread < BLOCK * BLOCK:
        return f"A block has threads 0 to {BLOCK * BLOCK - 1}."
    row, col = block_y * BLOCK + thread % BLOCK, block_x * BLOCK + thread // BLOCK
    return f"The thread that you name computes D[{row}, {col}]."


@register(
    "00_sectors",
    title="Counting sectors",
    task="Write sectors(addresses): how many sectors of 32 bytes hold the bytes at these addresses.",
    hint="Bytes 0 to 31 are sector 0, bytes 32 to 63 sector 1. Which sector holds address 100? A sector that several "
    "addresses share counts once: a set of Python keeps each value once.",
)
def sectors(answer: Callable[[list[int]], int]) -> Facts:
    random = np.random.default_rng(2)
    patterns = {
        "32 floats side by side": [4 * lane for lane in range(32)],
        "32 floats, one below the other in a matrix with 4,096 columns": [4 * 4096 * lane for lane in range(32)],
        "one address": [100],
        "the same address 32 times": [64] * 32,
        "every second float": [8 * lane for lane in range(32)],
        "32 floats side by side that begin at byte 16": [16 + 4 * lane for lane in range(32)],
        "random addresses": [4 * int(x) for x in random.integers(0, 200, 32)],
        "addresses in no order": [4 * int(x) for x in random.permutation(64)[:32]],
    }
    for what, addresses in patterns.items():
        wanted = len({address // 32 for address in addresses})
        expect(answer, (addresses,), wanted, f"These are {what}.")
    return [("patterns tried", str(len(patterns)))]
