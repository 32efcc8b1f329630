"""What a picture of a product shows at one step: which tiles are held where, what was read how often, what is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gemm_lab_lessons.ch02.traffic_ledger import DRAM, Step

Tile = tuple[range, range]


class Pace(NamedTuple):
    """A name for the distance between two moments that a picture shows, and the steps at which it stops."""

    name: str
    stops: tuple[int, ...]


@dataclass
class State:
    """The state behind one step. Levels are those of `traffic_ledger`: a tile at level SHARED lies in shared memory."""

    held: dict[tuple[str, int], Tile]  # (matrix, level) -> the tile of A or B that lies there now
    reads: dict[str, np.ndarray]  # "A" and "B": how often each element was read from DRAM
    products: np.ndarray  # how many multiply-adds each element of D has got
    stored: np.ndarray  # which elements of D have been stored
    now: Step

    def output(self, level: int) -> Tile | None:
        """The tile of D that belongs to the tiles of A and B held at this level; None if one of them is missing."""
        a, b = self.held.get(("A", level)), self.held.get(("B", level))
        return (a[0], b[1]) if a and b else None


def state_at(steps: Sequence[Step], number: int, size: tuple[int, int, int]) -> State:
    """The state behind step `number` of a product of this size."""
    m, n, k = size
    reads = {"A": np.zeros((m, k), int), "B": np.zeros((k, n), int)}
    state = State({}, reads, np.zeros((m, n), int), np.zeros((m, n), bool), steps[number])
    for step in steps[: number + 1]:
        for matrix, level, row, col in step.reads:
            if level == DRAM:
                state.reads[matrix][row, col] += 1
        place = np.ix_(step.rows, step.cols)
        if step.kind == "copy":
            state.held = _after_copy(state.held, step)
            if step.level == DRAM:
                state.reads[step.matrix][place] += 1
        elif step.kind == "multiply":
            state.products[place] += 1
        else:
            state.stored[place] = True
    return state


def paces_of(steps: Sequence[Step]) -> list[Pace]:
    """The paces at which a product can be shown, from the largest to single steps."""
    found = []
    for level, name in ((0, "block tile"), (1, "warp tile"), (2, "thread tile")):
        if any(step.kind == "copy" and step.level == level for step in steps):
            found.append(Pace(name, _with_the_end(steps, _copied(steps, level))))
    if not found:
        stored = [number for number, step in enumerate(steps) if step.kind == "write"]
        found.append(Pace("element of D", _with_the_end(steps, stored)))
    return [*found, Pace("step", tuple(range(len(steps))))]


def _after_copy(held: dict[tuple[str, int], Tile], step: Step) -> dict[tuple[str, int], Tile]:
    """The held tiles with the copied one: what was cut from an older tile is gone, and so is a partner of another k."""
    level = step.level + 1
    kept = {key: tile for key, tile in held.items() if key[1] <= level}
    kept[step.matrix, level] = step.rows, step.cols
    if ("A", level) in kept and ("B", level) in kept and kept["A", level][1] != kept["B", level][0]:
        del kept["B" if step.matrix == "A" else "A", level]
    return kept


def _copied(steps: Sequence[Step], level: int) -> list[int]:
    """The steps behind which a new pair of tiles at this level or above it is complete."""
    copies = [step.kind == "copy" and step.level <= level for step in steps]
    return [
        number
        for number, (step, copied) in enumerate(zip(steps, copies, strict=True))
        if copied and step.level == level and not (number + 1 < len(steps) and copies[number + 1])
    ]


def _with_the_end(steps: Sequence[Step], stops: list[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys([*stops, len(steps) - 1]))
