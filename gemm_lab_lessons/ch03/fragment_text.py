"""The fragment map as text, for a terminal: tables of the lanes of A, B and C."""

from __future__ import annotations

import numpy as np


def lanes_of(mma, operand: str) -> tuple[np.ndarray, int, int]:
    """(grid, high, wide): the lane that holds each cell of an operand.

    A cell is one register, with high × wide elements, so `grid` has the shape (rows / high, columns / wide).
    """
    held, each = mma.coordinates(operand), mma.per_register(operand)
    rows, columns = int(held[..., 0].max()) + 1, int(held[..., 1].max()) + 1
    high, wide = (each, 1) if operand == "B" else (1, each)
    grid = np.empty((rows // high, columns // wide), int)
    first = held[:, :, 0]
    lane = np.broadcast_to(np.arange(32)[:, None], first.shape[:2])
    grid[first[..., 0] // high, first[..., 1] // wide] = lane
    return grid, high, wide


def explain(widget) -> str:
    """The elements that the chosen lane holds, the rows whose addresses it gives to ldmatrix, and three tables."""
    mma, lane = widget.mma, widget.lane
    out = [f"mma.sync.{mma.shape}.{mma.accumulator}.{mma.dtype}: lane {lane} holds"]
    for operand in "ABC":
        parts = [
            f"{name} = {_places(operand, places)}"
            for name, places in widget.holds.items()
            if name[0] == operand.lower()
        ]
        out.append("  " + "  ".join(parts))
    for operand in "AB":
        if load := widget.load(operand):
            word = "column" if operand == "B" and not load.transposed else "row"
            named = (
                f"names {word} {load.rows[lane]}, 16-byte chunk {load.chunks[lane]}"
                if lane < len(load.rows)
                else "names nothing"
            )
            out.append(f"  {load.opcode} for {operand}: lane {lane} {named}")
    for operand in "ABC":
        grid, high, wide = lanes_of(mma, operand)
        size = f"{grid.shape[0] * high} × {grid.shape[1] * wide}"
        span = f"; a cell is {high} × {wide} elements" if high * wide > 1 else ""
        out += ["", f"{operand} ({size}): the lane of each element{span}; [ ]: lane {lane}"]
        out += ["".join(f"[{n:>2}]" if n == lane else f" {n:>2} " for n in row) for row in grid]
    return "\n".join(out)


def _places(operand: str, places: list[tuple[int, int]]) -> str:
    rows, columns = ([place[axis] for place in places] for axis in (0, 1))

    def span(values):
        return str(values[0]) if len(set(values)) == 1 else f"{values[0]}–{values[-1]}"

    return f"{operand}[{span(rows)}, {span(columns)}]"
