"""The layouts of the swizzle puzzle: a small tile whose chunks are exchanged, moved by XORs, rotated, or padded.

    layout = PuzzleLayout(PuzzleTile(8, 8), wires=((0, 0), (1, 1), (2, 2)))
    layout.places                  the place of every chunk in its row
    light(layout, "column")        wavefronts of all columns, and how few are possible

`notebook/widgets/puzzle_rules.js` computes the same in the browser; tests/browser/test_swizzle_puzzle.py compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gemm_lab_lessons.ch05.tile_access import SOURCE_ROW_BYTES
from gpu_simulator.hardware.bank_schedule import Schedule, ideal_wavefronts, schedule
from gpu_simulator.hardware.banks import BANK_BYTES
from gpu_simulator.hardware.swizzle import LayoutError

LIGHTS = ("row", "column", "copy")
MOST_PADDING = 8  # chunks


@dataclass(frozen=True)
class PuzzleTile:
    """rows × chunks pieces of `chunk_bytes` bytes on a machine with `banks` banks. Both extents are powers of two."""

    rows: int
    chunks: int
    chunk_bytes: int = 16
    banks: int = 32

    @property
    def groups(self) -> int:
        """The number of chunks that fill all banks once; each of them occupies one group of neighbouring banks."""
        return self.banks * BANK_BYTES // self.chunk_bytes

    @property
    def row_bits(self) -> int:
        return self.rows.bit_length() - 1

    @property
    def chunk_bits(self) -> int:
        return self.chunks.bit_length() - 1

    @property
    def plain(self) -> tuple[tuple[int, ...], ...]:
        """The order of the chunks by hand before anybody has exchanged two: 0, 1, 2 … in every row."""
        return (tuple(range(self.chunks)),) * self.rows


@dataclass(frozen=True)
class PuzzleLayout:
    """Where each chunk of a `PuzzleTile` lies. Raises `LayoutError` if that is impossible.

    hand: for each row, the chunk at each place before the two rules below; None for the plain order.
    wires: (row bit, chunk bit) pairs; a place is XORed with 1 << chunk bit in the rows in which the row bit is set.
    shift: row r is then rotated by r · shift places, around the end of the row.   padding: unused chunks after a row.
    """

    tile: PuzzleTile
    hand: tuple[tuple[int, ...], ...] | None = None
    wires: tuple[tuple[int, int], ...] = ()
    shift: int = 0
    padding: int = 0

    def __post_init__(self):
        if problem := self._problem():
            raise LayoutError(problem)

    def _problem(self) -> str:
        tile = self.tile
        if problem := order_problem(tile, self.hand or tile.plain):
            return problem
        for row_bit, chunk_bit in self.wires:
            if not (0 <= row_bit < tile.row_bits and 0 <= chunk_bit < tile.chunk_bits):
                return (
                    f"There is no wire from row bit {row_bit} to chunk bit {chunk_bit}: the row bits are 0 to "
                    f"{tile.row_bits - 1}, the chunk bits 0 to {tile.chunk_bits - 1}."
                )
        if len(set(self.wires)) < len(self.wires):
            return "A wire stands twice in the list: the second XOR would take the first one back."
        if not 0 <= self.shift < tile.chunks:
            return f"A row can be rotated by 0 to {tile.chunks - 1} places for each row number, not by {self.shift}."
        if not 0 <= self.padding <= MOST_PADDING:
            return f"The padding of a row is 0 to {MOST_PADDING} chunks, not {self.padding}."
        return ""

    @cached_property
    def places(self) -> np.ndarray:
        """places[row, chunk]: the place of a chunk in its row."""
        tile, row = self.tile, np.arange(self.tile.rows)
        order = np.array(self.hand or tile.plain)
        xor = np.zeros(tile.rows, int)
        for row_bit, chunk_bit in self.wires:
            xor ^= (row >> row_bit & 1) << chunk_bit
        moved = ((np.arange(tile.chunks) ^ xor[:, None]) + self.shift * row[:, None]) % tile.chunks
        places = np.empty_like(order)
        np.put_along_axis(places, order, moved, 1)
        return places

    @property
    def rows(self) -> list[list[int]]:
        """For each row, the chunk at each place, from left to right."""
        return np.argsort(self.places, 1).tolist()

    @property
    def row_chunks(self) -> int:
        """Chunks from the beginning of a row to that of the next."""
        return self.tile.chunks + self.padding

    @property
    def addresses(self) -> np.ndarray:
        """addresses[row, chunk]: the byte address of a chunk."""
        return (np.arange(self.tile.rows)[:, None] * self.row_chunks + self.places) * self.tile.chunk_bytes

    @property
    def bytes(self) -> int:
        """Bytes of shared memory, including the padding of the last row."""
        return self.tile.rows * self.row_chunks * self.tile.chunk_bytes


def order_problem(tile: PuzzleTile, order) -> str:
    """A sentence if `order` does not put each chunk of each row into one place; "" if it does."""
    if len(order) != tile.rows or any(len(row) != tile.chunks for row in order):
        return f"The tile has {tile.rows} rows of {tile.chunks} chunks each; the layout needs as many."
    for number, row in enumerate(order):
        missing = sorted(set(range(tile.chunks)) - set(row))
        if missing:
            twice = next((chunk for chunk in row if list(row).count(chunk) > 1), None)
            where = f"chunk {twice} stands at two places" if twice is not None else "there is a number that is no chunk"
            return (
                f"Row {number}: {where}, and chunk {missing[0]} at none. A place holds one chunk, so each of the "
                f"numbers 0 to {tile.chunks - 1} stands once in a row."
            )
    return ""


# ---- Lights ----


class Light(NamedTuple):
    """All wavefronts of one kind of access, and how few are possible. worst: the number of the slowest access."""

    found: int
    ideal: int
    worst: int

    @property
    def green(self) -> bool:
        return self.found == self.ideal


def accesses(tile: PuzzleTile, name: str) -> list[list[tuple[int, int]]]:
    """The accesses of a light, each a list of (row, chunk), one per lane; one wavefront could serve each of them.

    "row": neighbouring chunks, as the copy stores them.   "column": the same chunk of neighbouring rows, as `ldmatrix`
    reads it.   "copy": as "row", by cp.async; the parts of a warp that it copies to different rows never share a
    wavefront, because they come from different lines of global memory.
    """
    if name == "column":
        return [
            [(first + lane, chunk) for lane in range(tile.groups)]
            for first in range(0, tile.rows, tile.groups)
            for chunk in range(tile.chunks)
        ]
    lanes = [(row, chunk) for row in range(tile.rows) for chunk in range(tile.chunks)]
    return [lanes[first : first + tile.groups] for first in range(0, len(lanes), tile.groups)]


def served(layout: PuzzleLayout, name: str, lanes: list[tuple[int, int]]) -> Schedule:
    """The wavefronts of one access of the light `name`."""
    tile = layout.tile
    row, chunk = np.array(lanes).T
    kind = {"row": "store", "column": "ldmatrix" if tile.chunk_bytes == 16 else "load", "copy": "cp.async.cg"}[name]
    source = row * SOURCE_ROW_BYTES + chunk * tile.chunk_bytes
    return schedule(kind, layout.addresses[row, chunk], tile.chunk_bytes, None, source, tile.banks)


def light(layout: PuzzleLayout, name: str) -> Light:
    """The state of the light `name`, one of `LIGHTS`."""
    tile = layout.tile
    every = accesses(tile, name)
    counts = [served(layout, name, lanes).count for lanes in every]
    ideal = sum(ideal_wavefronts(len(lanes), tile.chunk_bytes, tile.banks) for lanes in every)
    return Light(sum(counts), ideal, int(np.argmax(counts)))
