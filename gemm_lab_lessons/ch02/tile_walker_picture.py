"""Draws the tile walk's still picture: A, B and D with the tiles that are held, the step in words, four counters."""

from __future__ import annotations

import linecache

import numpy as np
from matplotlib.colors import to_rgb

from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab.plots.style import Card
from gemm_lab_lessons.ch02.tile_walker_text import COUNTERS, ratio, says
from gemm_lab_lessons.ch02.traffic_ledger import REGISTERS, SHARED, WARP
from gemm_lab_lessons.ch02.walk_state import State, Tile

LEFT, TOP, GAP = 0.3, 2.42, 0.16
WIDE, HIGH = 5.5, 3.1  # inches for the three matrices
EDGE = {SHARED: style.MEMORY["shared memory"], WARP: style.INK, REGISTERS: style.INK}
LINE = {SHARED: 2.6, WARP: 1.8, REGISTERS: 1.0}
NEEDED = REGISTERS + 1  # the strips of A and B that sums were made of
EDGE[NEEDED], LINE[NEEDED] = style.INK, 1.0
FILL = {REGISTERS: style.LIT, NEEDED: style.tint(style.LIT, 0.5)}
LEGEND = {
    SHARED: "in shared memory",
    WARP: "read by a warp",
    REGISTERS: "in registers",
    NEEDED: "what it needs",
}


def picture(widget, step: int, state: State) -> Card:
    """The picture of a `TileWalk` at a step, with the state behind it."""
    m, n, k = widget.size
    cell = min((WIDE - GAP) / (n + k), (HIGH - GAP) / (m + k), 0.3)
    page = Sheet(TOP + (m + k) * cell + GAP + 0.32)
    _heading(page, widget, step)
    x, y = LEFT + k * cell + GAP, TOP + k * cell + GAP
    most = max(1, m, n)
    for name, left, top, values in (
        ("A", LEFT, y, _shade(state.reads["A"], most)),
        ("B", x, TOP, _shade(state.reads["B"], most)),
        ("D", x, y, 0.65 * state.products / k + 0.2 * state.stored),
    ):
        _matrix(page, left, top, cell, values, {"A": style.A, "B": style.B, "D": style.D}[name])
    for level in _levels(state):
        for name, tile in _tiles(state, level, k).items():
            if tile:
                left, top = (LEFT, y) if name == "A" else (x, TOP) if name == "B" else (x, y)
                _tile(page, left, top, cell, tile, level)
    for name, at, below, ha in (("A", LEFT, y - 0.12, "left"), ("B", x - 0.1, TOP + 0.12, "right")):
        colour = style.ink(style.A if name == "A" else style.B)
        page.text(at, below, name, bold=True, size=style.BODY, colour=colour, ha=ha)
    page.text(x + n * cell + 0.1, y + 0.1, "D", bold=True, size=style.BODY, colour=style.ink(style.D), ha="left")
    _legend(page, max(x + n * cell + 0.5, 6.1), state)
    return page.fig


def _heading(page: Sheet, widget, step: int) -> None:
    now, (m, n, k) = widget._steps[step], widget.size
    page.text(0.3, 0.3, widget.title, mono=True, size=style.SMALL, ha="left", bold=True)
    page.text(7.7, 0.58, f"step {step:,} of {len(widget.steps) - 1:,}", ha="right", colour=style.MUTED)
    page.text(0.3, 0.58, f"{m} × {n} with k = {k}", ha="left", colour=style.MUTED)
    page.box(0.3, 0.76, 7.4, 0.68, fill="#F4F5F7", edge="#F4F5F7")
    page.text(0.42, 0.95, linecache.getline(*now.line).strip()[:72], mono=True, size=style.SMALL, ha="left")
    page.text(0.42, 1.23, says(now), ha="left")
    for number, (name, counter) in enumerate(zip(COUNTERS, now.counters, strict=True)):
        x = 0.3 + number * 1.87
        page.box(x, 1.54, 1.79, 0.72)
        edge = style.MEMORY.get(name, style.MUTED)
        page.box(x, 1.54, 0.06, 0.72, fill=edge, edge=edge, radius=0, lw=0)
        page.text(x + 0.15, 1.67, name, colour=style.MUTED, ha="left")
        page.text(x + 0.15, 1.9, f"{counter:,}", bold=True, size=style.LARGE, ha="left")
        more = f"of {m * n * k:,}" if name == COUNTERS[3] else ratio(counter, now.counters[3]).replace("-add", "")
        page.text(x + 0.15, 2.12, more.replace("for each multiply", "a multiply-add"), colour=style.MUTED, ha="left")


def _shade(reads: np.ndarray, most: int) -> np.ndarray:
    """From 0 to 1 on a logarithmic scale, which tells 1 from 2 and 16 from 32."""
    return 0.9 * np.log2(1 + reads) / np.log2(1 + most)


def _matrix(page: Sheet, x: float, y: float, cell: float, amounts: np.ndarray, colour: str) -> None:
    rows, cols = amounts.shape
    amounts = 0.06 + 0.94 * amounts[..., None]
    pixels = amounts * np.array(to_rgb(colour)) + (1 - amounts)
    page.ax.imshow(
        pixels,
        extent=(x, x + cols * cell, y + rows * cell, y),
        aspect="auto",
        interpolation="nearest",
        zorder=1,
    )
    page.ax.set(xlim=(0, page.width), ylim=(page.height, 0))
    for i in range(rows + 1):
        page.line((x, y + i * cell), (x + cols * cell, y + i * cell), colour=style.PAPER, lw=0.5, z=2)
    for j in range(cols + 1):
        page.line((x + j * cell, y), (x + j * cell, y + rows * cell), colour=style.PAPER, lw=0.5, z=2)
    page.box(x, y, cols * cell, rows * cell, fill="none", edge=style.UNLIT_EDGE, lw=0.8, radius=0, z=2)


def _levels(state: State) -> list[int]:
    """The levels at which tiles are shown at this step."""
    if state.now.kind == "write":
        return [NEEDED]
    held = {level for _, level in state.held}
    return sorted(held | {REGISTERS} if state.now.kind == "multiply" else held)


def _tiles(state: State, level: int, k: int) -> dict[str, Tile | None]:
    """The tiles of A, B and D at one level."""
    now = state.now
    if level == NEEDED:
        return {"A": (now.rows, range(k)), "B": (range(k), now.cols), "D": (now.rows, now.cols)}
    if level == REGISTERS and now.kind == "multiply":
        depth = range(now.k, now.k + 1)
        return {"A": (now.rows, depth), "B": (depth, now.cols), "D": (now.rows, now.cols)}
    return {"A": state.held.get(("A", level)), "B": state.held.get(("B", level)), "D": state.output(level)}


def _tile(page: Sheet, x: float, y: float, cell: float, tile: Tile, level: int) -> None:
    rows, cols = tile
    for i in rows if rows.step > 1 else rows[:1]:
        for j in cols if cols.step > 1 else cols[:1]:
            height = cell * (1 if rows.step > 1 else len(rows))
            width = cell * (1 if cols.step > 1 else len(cols))
            fill = FILL.get(level, "none")
            page.box(
                x + j * cell,
                y + i * cell,
                width,
                height,
                fill=fill,
                edge=EDGE[level],
                lw=LINE[level],
                radius=0,
                z=level + 3,
            )


def _legend(page: Sheet, x: float, state: State) -> None:
    y = TOP + 0.1
    for level in _levels(state):
        fill = FILL.get(level, style.PAPER)
        page.box(x, y - 0.07, 0.16, 0.14, fill=fill, edge=EDGE[level], lw=LINE[level], radius=0)
        page.text(x + 0.26, y, LEGEND[level], ha="left", colour=style.MUTED)
        y += 0.27
    y += 0.1
    page.text(x, y, "read from DRAM", ha="left", colour=style.MUTED)
    for name in "AB":
        y += 0.24
        most = int(state.reads[name].max())
        words = f"{name} up to {most} time{'s' * (most != 1)}"
        page.text(x, y, words, ha="left", colour=style.ink(getattr(style, name)))
