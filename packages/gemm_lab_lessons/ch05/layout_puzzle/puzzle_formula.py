"""Writes a layout of the swizzle puzzle as one line of C++: an XOR, an addition, or, if it is neither, a table.

`notebook/widgets/puzzle_formula.js` writes the same line in the browser.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from gemm_lab_lessons.ch05.layout_puzzle.puzzle_layout import PuzzleLayout, PuzzleTile


class Formula(NamedTuple):
    """place: the C++ expression of the place of chunk `chunk` in row `row`.

    kind: "plain", "xor", "addition", "both" (an XOR and a rotation), or "table".
    """

    kind: str
    place: str


def formula(layout: PuzzleLayout) -> Formula:
    """The shortest of these forms that gives the places of `layout`."""
    tile, places = layout.tile, layout.places
    if (terms := _xor(tile, places)) is not None:
        return Formula("xor" if terms else "plain", " ^ ".join(["chunk", *terms]))
    if text := _addition(tile, places):
        return Formula("addition", text)
    if layout.hand in (None, tile.plain):
        rule = PuzzleLayout(tile, wires=layout.wires)
        xor = " ^ ".join(["chunk", *(_xor(tile, rule.places) or [])])
        return Formula("both", f"(({xor}) + {_times_row(layout.shift)}) & {tile.chunks - 1}")
    digits = "".join(map(str, places.reshape(-1).tolist()))
    return Formula("table", f"\"{digits}\"[{tile.chunks} * (row & {tile.rows - 1}) + chunk] - '0'")


def index(layout: PuzzleLayout) -> str:
    """The C++ expression of the number of a chunk in shared memory, counted in chunks from the tile's beginning."""
    kind, place = formula(layout)
    return f"row * {layout.row_chunks} + {place if kind == 'plain' else f'({place})'}"


def line(layout: PuzzleLayout) -> str:
    """What the learner sees: the place in the row, or with padding the number of the chunk in the tile."""
    return index(layout) if layout.padding else formula(layout).place


def _xor(tile: PuzzleTile, places: np.ndarray) -> list[str] | None:
    """The terms that are XORed with the chunk; None if the layout is no XOR with bits of the row and a constant."""
    number = places[:, 0]
    if (places != (np.arange(tile.chunks) ^ number[:, None])).any():
        return None
    constant = int(number[0])
    masks = [int(number[1 << bit]) ^ constant for bit in range(tile.row_bits)]
    for row in range(tile.rows):
        linear = constant
        for bit, mask in enumerate(masks):
            linear ^= mask * (row >> bit & 1)
        if linear != number[row]:
            return None
    moved: dict[int, int] = defaultdict(int)  # distance of a row bit from a chunk bit -> the chunk bits that it changes
    for bit, mask in enumerate(masks):
        for chunk_bit in range(tile.chunk_bits):
            moved[bit - chunk_bit] |= mask & 1 << chunk_bit
    terms = [f"(row{_shifted(distance)} & {mask})" for distance, mask in sorted(moved.items()) if mask]
    return terms + ([str(constant)] if constant else [])


def _shifted(distance: int) -> str:
    return f" >> {distance}" if distance > 0 else f" << {-distance}" if distance else ""


def _addition(tile: PuzzleTile, places: np.ndarray) -> str:
    """The layout as a sum modulo the chunks of a row; "" if it is none."""
    row, chunk = np.indices(places.shape)
    constant = int(places[0, 0])
    step = (int(places[1, 0]) - constant) % tile.chunks
    if (places != (chunk + step * row + constant) % tile.chunks).any():
        return ""
    parts = ["chunk", *([_times_row(step)] if step else []), *([str(constant)] if constant else [])]
    return f"({' + '.join(parts)}) & {tile.chunks - 1}"


def _times_row(step: int) -> str:
    return "row" if step == 1 else f"{step} * row"
