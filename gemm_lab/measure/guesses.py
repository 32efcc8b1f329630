"""Guesses the mistake in a wrong result: the usual mistakes of a GEMM are compared with the output one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np

from gemm_lab.measure.bounds import element_limits
from gemm_lab.measure.inputs import Inputs
from gemm_lab.measure.wrong_tiles import products_of_wrong_tiles
from gemm_lab.problem import Problem

ALIKE = 0.99  # share of the elements that have to agree
MOVED = 16  # wrong tiles of D that are looked for in other places
ALL_NAN = (
    "Every element is NaN. Either the output was never written (it still holds the NaN it was filled with), or the "
    "kernel computed with values that it never stored: in shared memory, in registers or in tensor memory."
)


def guess(
    got: np.ndarray,
    expected: np.ndarray,
    wrong: np.ndarray,
    tiles: Sequence[tuple[int, int]],
    block: Sequence[int],
    kind: str,
    problem: Problem,
    inputs: Inputs | None,
) -> str | None:
    """A sentence that names the mistake if the output matches a known one, else None.

    got, expected: float64 of shape (M, N).   wrong: where they differ, bool of the same shape.   tiles: (row, column)
    of the block tiles with wrong elements.   block: (BLOCK_M, BLOCK_N[, BLOCK_K]).   kind: of the inputs.
    """
    nan = np.isnan(got)
    if nan.all():
        return ALL_NAN
    if nan.any() and np.array_equal(nan, wrong):
        untouched = [tile for tile in tiles if nan[_slice(tile, block)].all()]
        if untouched and len(untouched) == len(tiles):
            return f"{_tiles(untouched)} never written (still NaN); the rest is right."
        return "These elements were never written, or were computed from a NaN; the rest is right."
    k = inputs.k if inputs is not None else 1
    absolute, relative = element_limits(problem, k, 2.0 if problem.uses_c else 1.0)

    def alike(candidate: np.ndarray) -> bool:
        if candidate.shape != got.shape:
            return False
        tolerance = (absolute if kind == "normal" else 0.5) + 2 * relative * np.abs(candidate)
        with np.errstate(invalid="ignore"):
            return bool((np.abs(got - candidate) <= tolerance).mean() >= ALIKE)

    if not np.any(got):
        return "The output is all zeros: the sum was never taken, or its registers were never stored."
    if alike(expected.T):
        return "It equals the transposed product: rows and columns of D are exchanged."
    if inputs is not None:
        for candidate, sentence in _mistakes(inputs, block):
            if alike(candidate):
                return sentence
        if moved := _exchanged(got, expected, wrong, inputs):
            return moved
    whole = [tile for tile in tiles if wrong[_slice(tile, block)].mean() > 0.9]
    if whole and len(whole) == len(tiles) and not wrong.mean() > 0.9:
        return f"{_tiles(whole, 'All of ')} wrong; the other tiles are right."
    return None


def _mistakes(inputs: Inputs, block: Sequence[int]) -> Iterator[tuple[np.ndarray, str]]:
    a, b = inputs.wide()
    right = (a @ b).astype(np.float64)
    added = inputs.beta * inputs.c.astype(np.float64) if inputs.c is not None else 0.0
    if inputs.c is not None:
        c = inputs.c.astype(np.float64)
        yield inputs.alpha * right, "It equals alpha·A·B: beta·C is missing."
        yield right + added, "It equals A·B + beta·C: alpha is missing."
        yield inputs.beta * right + inputs.alpha * c, "It equals beta·A·B + alpha·C: alpha and beta are exchanged."
        yield inputs.alpha * right + c, "It equals alpha·A·B + C: beta is missing."
        yield inputs.alpha * right - added, "It equals alpha·A·B - beta·C: the sign of beta·C is wrong."
    if inputs.m == inputs.k:
        yield inputs.alpha * (a.T @ b) + added, "It equals Aᵀ·B: A is read with rows and columns exchanged."
    if inputs.k == inputs.n:
        yield inputs.alpha * (a @ b.T) + added, "It equals A·Bᵀ: B is read with rows and columns exchanged."
    step = block[2] if len(block) > 2 else 0
    if 0 < step < inputs.k:
        for candidate, sentence in products_of_wrong_tiles(a, b, block):
            yield inputs.alpha * candidate + added, sentence
        for part, says in (
            (slice(step), "the sum stopped after the first BLOCK_K = {} of K"),
            (slice(-step), "the last BLOCK_K = {} of K were missing"),
            (slice(step, None), "the first BLOCK_K = {} of K were missing"),
        ):
            yield inputs.alpha * (a[:, part] @ b[part]) + added, f"It looks as if {says.format(step)}."

    for (name, side), across in product((("A", a), ("B", b)), dict.fromkeys((8, 16, *filter(None, block)))):
        for how, swap in (("is transposed", _turned), ("has two of its 8 × 8 quarters exchanged", _quarters)):
            if swap is _turned or across == 16:
                filled_a, filled_b = (_by_tiles(x, across, swap if x is side else None) for x in (a, b))
                depth = min(filled_a.shape[1], filled_b.shape[0])  # both are filled up with zeros
                found = filled_a[: inputs.m, :depth] @ filled_b[:depth, : inputs.n]
                what = f"each {across} × {across} tile of {name} {how}"
                yield inputs.alpha * found + added, f"It is the product in which {what}."


def _by_tiles(matrix: np.ndarray, across: int, swap: Callable[[np.ndarray], np.ndarray] | None) -> np.ndarray:
    """The matrix, filled up with zeros to whole tiles, with `swap` applied to (rows, r, columns, c) of its tiles."""
    rows, columns = (-(-extent // across) for extent in matrix.shape)
    filled = np.pad(matrix, [(0, rows * across - matrix.shape[0]), (0, columns * across - matrix.shape[1])])
    tiles = filled.reshape(rows, across, columns, across)
    return (swap(tiles) if swap else tiles).reshape(filled.shape)


def _turned(tiles: np.ndarray) -> np.ndarray:
    return tiles.transpose(0, 3, 2, 1)


def _quarters(tiles: np.ndarray) -> np.ndarray:
    """Tiles of 16 × 16 whose upper right and lower left quarters are exchanged, as by two registers of a fragment."""
    rows, across, columns, _ = tiles.shape
    return tiles.reshape(rows, 2, 8, columns, 2, 8).transpose(0, 4, 2, 3, 1, 5).reshape(tiles.shape)


def _exchanged(got: np.ndarray, expected: np.ndarray, wrong: np.ndarray, inputs: Inputs) -> str:
    """A sentence if wrong 8 × 8 tiles of A·B are right ones of other places, as of exchanged accumulators; or ""."""
    m, n = (extent // 8 * 8 for extent in got.shape)
    added = inputs.beta * inputs.c.astype(np.float64) if inputs.c is not None else np.zeros(got.shape)

    def tiles(matrix: np.ndarray) -> np.ndarray:
        return matrix[:m, :n].reshape(m // 8, 8, n // 8, 8).swapaxes(1, 2).reshape(-1, 64)

    found, right, off = tiles(got - added), tiles(expected - added), tiles(wrong).mean(1) > 0.5
    places: dict[int, int] = {}
    for number in np.flatnonzero(off)[:MOVED]:
        same = (np.abs(right - found[number]) <= 1).mean(1)
        if same.max() < 0.9 or same[number] == same.max():
            return ""
        places[int(number)] = int(same.argmax())
    if len(set(places.values())) < max(len(places), 2):
        return ""
    (here, there), across = next(iter(places.items())), n // 8
    return (
        "The sums are right, and lie in wrong places, as if accumulators were exchanged: the 8 × 8 tile at "
        f"D[{here // across * 8}, {here % across * 8}] belongs to D[{there // across * 8}, {there % across * 8}]."
    )


def _slice(tile: tuple[int, int], block: Sequence[int]) -> tuple[slice, slice]:
    return tuple(slice(index * size, (index + 1) * size) for index, size in zip(tile, block, strict=False))


def _tiles(tiles: Sequence[tuple[int, int]], before: str = "") -> str:
    shown = ", ".join(str(tile) for tile in tiles[:4]) + (f" and {len(tiles) - 4} more" if len(tiles) > 4 else "")
    if before:
        return f"{before}{'tile' if len(tiles) == 1 else 'tiles'} {shown} {'is' if len(tiles) == 1 else 'are'}"
    return f"{'Tile' if len(tiles) == 1 else 'Tiles'} {shown} {'was' if len(tiles) == 1 else 'were'}"
