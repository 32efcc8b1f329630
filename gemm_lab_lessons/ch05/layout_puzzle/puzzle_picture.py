"""Draws the swizzle puzzle's still picture: the lights, the tile across the banks, and the queues of one column."""

from __future__ import annotations

from textwrap import wrap

from gemm_lab.notebook.widgets.colours import bank_colour
from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab.plots.style import Card
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_goals import Goal
from gemm_lab_lessons.ch05.layout_puzzle.puzzle_layout import PuzzleLayout, PuzzleTile, accesses, light, served

LEFT, RIGHT, WIDE, TALL = 0.78, 4.4, 3.3, 0.28


def picture(goal: Goal, layout: PuzzleLayout) -> Card:
    """The picture, eight inches wide. The queues are those of the slowest column."""
    tile, task = goal.tile, wrap(goal.task, 104)
    top = 0.72 + 0.22 * len(task)
    page = Sheet(top + 1.35 + tile.rows * TALL)
    page.text(0.3, 0.36, goal.title, bold=True, size=style.LARGE, ha="left")
    page.text(7.7, 0.36, f"{layout.bytes:,} bytes", ha="right", colour=style.MUTED)
    for number, words in enumerate(task):
        page.text(0.3, 0.66 + 0.22 * number, words, ha="left", size=10)
    for number, (key, name, _) in enumerate(goal.lights):
        found = light(layout, key)
        x, colour = 0.3 + 2.5 * number, style.GREEN if found.green else style.CONFLICT
        page.box(x, top, 0.2, 0.2, fill=colour, edge=colour, radius=0.1)
        page.text(x + 0.3, top + 0.1, f"{name}: {found.found}, {found.ideal} possible", ha="left", size=10)
    _tile(page, layout, top + 0.9)
    _queues(page, layout, top + 0.9)
    return page.fig


def banks_of(tile: PuzzleTile, group: int) -> str:
    """The banks of a group, such as “4–7”."""
    each = tile.banks // tile.groups
    return f"{group * each}–{group * each + each - 1}" if each > 1 else str(group)


def _banks(page: Sheet, tile: PuzzleTile, x: float, y: float) -> None:
    cell = WIDE / tile.groups
    for group in range(tile.groups):
        name = banks_of(tile, group)
        first = name.split("–")[0]  # “28–31” does not fit over a narrow group
        page.text(x + (group + 0.5) * cell, y, first if cell < 0.5 else name, size=style.FINE, colour=style.MUTED)


def _chunk(page: Sheet, layout: PuzzleLayout, chunk: int, words: str, x: float, y: float) -> None:
    cell, fill = WIDE / layout.tile.groups, bank_colour(chunk, layout.tile.chunks, vivid=True)
    page.box(x + 0.02, y + 0.02, cell - 0.04, TALL - 0.04, fill=fill, edge=style.RULE, radius=0.03, lw=0.8)
    page.text(x + cell / 2, y + TALL / 2, words, size=10)


def _tile(page: Sheet, layout: PuzzleLayout, y: float) -> None:
    tile, cell = layout.tile, WIDE / layout.tile.groups
    page.text(0.3, y - 0.38, "The tile, across the banks", bold=True, ha="left")
    _banks(page, tile, LEFT, y - 0.12)
    for row in range(tile.rows):
        page.text(0.3, y + (row + 0.5) * TALL, f"row {row}", size=9.5, ha="left", colour=style.MUTED)
        for chunk in range(tile.chunks):
            group = int(layout.addresses[row, chunk]) // tile.chunk_bytes % tile.groups
            _chunk(page, layout, chunk, str(chunk), LEFT + group * cell, y + row * TALL)


def _queues(page: Sheet, layout: PuzzleLayout, y: float) -> None:
    tile, cell = layout.tile, WIDE / layout.tile.groups
    number = light(layout, "column").worst
    lanes = accesses(tile, "column")[number]
    found = served(layout, "column", lanes)
    page.text(RIGHT, y - 0.38, f"The queues of the banks, for column {lanes[0][1]}", bold=True, ha="left")
    _banks(page, tile, RIGHT, y - 0.12)
    page.box(RIGHT, y, WIDE, TALL, fill=style.tint(style.LIT, 0.35), edge="none", radius=0.02, z=1)
    for lane, (row, chunk) in enumerate(lanes):
        group = int(layout.addresses[row, chunk]) // tile.chunk_bytes % tile.groups
        wait = int(found.wavefront[lane].max())
        _chunk(page, layout, chunk, f"{row}·{chunk}", RIGHT + group * cell, y + wait * TALL)
    page.text(
        RIGHT,
        y + tile.rows * TALL + 0.14,
        "row·chunk; one row of the queues is a wavefront",
        size=style.FINE,
        ha="left",
        colour=style.MUTED,
    )
