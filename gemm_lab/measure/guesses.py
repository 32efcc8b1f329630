"""Guesses the mistake in a wrong result: the usual mistakes of a GEMM are compared with the output one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from gemm_lab.catalog import Problem
from gemm_lab.measure.bounds import element_limits
from gemm_lab.measure.inputs import Inputs
from gemm_lab.measure.wrong_tiles import products_of_wrong_tiles

ALIKE = 0.99  # share of the elements that have to agree
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
    of the block tiles with wrong elements.   block: (BLOCK_M, BLOCK_N[, BLOCK_K]).   kind: "integers" or "normal".
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
        tolerance = (0.5 if kind == "integers" else absolute) + 2 * relative * np.abs(candidate)
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
    whole = [tile for tile in tiles if wrong[_slice(tile, block)].mean() > 0.9]
    if whole and len(whole) == len(tiles) and not wrong.mean() > 0.9:
        return f"{_tiles(whole, 'All of ')} wrong; the other tiles are right."
    return None


def _mistakes(inputs: Inputs, block: Sequence[int]) -> Iterator[tuple[np.ndarray, str]]:
    a, b = inputs.wide()
    product = (a @ b).astype(np.float64)
    added = inputs.beta * inputs.c.astype(np.float64) if inputs.c is not None else 0.0
    if inputs.c is not None:
        c = inputs.c.astype(np.float64)
        yield inputs.alpha * product, "It equals alpha·A·B: beta·C is missing."
        yield product + added, "It equals A·B + beta·C: alpha is missing."
        yield (
            inputs.beta * product + inputs.alpha * c,
            "It equals beta·A·B + alpha·C: alpha and beta are exchanged.",
        )
        yield inputs.alpha * product + c, "It equals alpha·A·B + C: beta is missing."
        yield inputs.alpha * product - added, "It equals alpha·A·B - beta·C: the sign of beta·C is wrong."
    if inputs.m == inputs.k:
        yield inputs.alpha * (a.T @ b) + added, "It equals Aᵀ·B: A is read with rows and columns exchanged."
    if inputs.k == inputs.n:
        yield inputs.alpha * (a @ b.T) + added, "It equals A·Bᵀ: B is read with rows and columns exchanged."
    step = block[2] if len(block) > 2 else 0
    if 0 < step < inputs.k:
        for candidate, sentence in products_of_wrong_tiles(a, b, block):
            yield inputs.alpha * candidate + added, sentence
        yield (
            inputs.alpha * (a[:, :step] @ b[:step]) + added,
            f"It looks as if the sum stopped after the first BLOCK_K = {step} of K.",
        )
        yield (
            inputs.alpha * (a[:, :-step] @ b[:-step]) + added,
            f"It looks as if the last BLOCK_K = {step} of K were missing.",
        )
        yield (
            inputs.alpha * (a[:, step:] @ b[step:]) + added,
            f"It looks as if the first BLOCK_K = {step} of K were missing.",
        )


def _slice(tile: tuple[int, int], block: Sequence[int]) -> tuple[slice, slice]:
    return tuple(slice(index * size, (index + 1) * size) for index, size in zip(tile, block, strict=False))


def _tiles(tiles: Sequence[tuple[int, int]], before: str = "") -> str:
    shown = ", ".join(str(tile) for tile in tiles[:4]) + (f" and {len(tiles) - 4} more" if len(tiles) > 4 else "")
    if before:
        return f"{before}{'tile' if len(tiles) == 1 else 'tiles'} {shown} {'is' if len(tiles) == 1 else 'are'}"
    return f"{'Tile' if len(tiles) == 1 else 'Tiles'} {shown} {'was' if len(tiles) == 1 else 'were'}"
