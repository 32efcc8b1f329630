"""Draws the fragment map's still picture: B above C and A to the left of C, with the chosen lane highlighted."""

from __future__ import annotations

from gemm_lab.notebook.widgets.colours import bank_colour
from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab.plots.style import Card
from gemm_lab_lessons.ch03.fragment_text import _places, lanes_of

ROW, GAP, LEFT = 0.2, 0.07, 0.85
FACTS, LINE = 0.86, 0.2  # the first line about the lane, and the distance of lines, in inches


def picture(widget) -> Card:
    """The picture of a `FragmentMap`, eight inches wide."""
    mma, lane = widget.mma, widget.lane
    grids = {operand: lanes_of(mma, operand) for operand in "ABC"}
    columns_a, columns_b = grids["A"][0].shape[1], grids["B"][0].shape[1]
    blocks_a = 1 if mma.quads else max(columns_a // 4, 1)
    products = columns_b // 8
    cell = min((8 - LEFT - 1.25 - (blocks_a - 1) * GAP) / (columns_a + 8), 0.4)
    x_a, x_c = LEFT, max(LEFT + columns_a * cell + (blocks_a - 1) * GAP + 0.85, 4.45)
    side = min(cell, (7.75 - x_c) / 8)  # width of an element of C
    rows_b = grids["B"][0].shape[0]
    upright = widget.load("B") is not None and widget.stored == "column-major"
    y_b = 0.98 if upright else 0.75
    most = max(sum(name[0] == operand for name in widget.holds) for operand in "abc")
    words_end = FACTS + LINE * most + (0.5 if widget.load("A") else 0)
    y_a = max(y_b + rows_b * ROW + (rows_b // 4) * GAP + 0.5, words_end + 0.4)
    page = Sheet(y_a + grids["A"][0].shape[0] * (ROW + GAP / 8) + 0.25)

    def position(operand: str, row: int, column: int) -> tuple[float, float, float]:
        if operand == "A":
            return x_a + column * cell + (0 if mma.quads else column // 4 * GAP), y_a + row * ROW + row // 8 * GAP, cell
        if operand == "B":
            width = side / products
            return x_c + column * width, y_b + row * ROW + (0 if mma.quads else row // 4 * GAP), width
        width = 8 * side / grids["C"][0].shape[1]
        return x_c + column * width, y_a + row * ROW + row // 8 * GAP, width

    for operand, colour in (("A", style.A), ("B", style.B), ("C", style.C)):
        grid, high, wide = grids[operand]
        for (row, column), holder in _cells(grid):
            x, y, width = position(operand, row, column)
            on = holder == lane
            fill = bank_colour((holder % 8 if mma.quads else holder // 4) * 4, vivid=on)
            page.box(
                x + 0.008,
                y + 0.008,
                width - 0.016,
                ROW - 0.016,
                fill=fill,
                lw=1.3 if on else 0,
                radius=0.02,
                edge=style.INK if on else "none",
                z=3 if on else 2,
            )
            if width > 0.18:
                page.text(
                    x + width / 2,
                    y + ROW / 2,
                    f"T{holder}" if width > 0.3 else str(holder),
                    size=style.FINE,
                    bold=on,
                    colour=style.INK if on else style.MUTED,
                )
        x, y = (x_a, y_a) if operand == "A" else (x_c, y_b if operand == "B" else y_a)
        name = "C and D" if operand == "C" else operand
        above = 0.48 if operand == "B" and upright else 0.14
        page.text(
            x,
            y - above,
            f"{name}   {grid.shape[0] * high} × {grid.shape[1] * wide}",
            bold=True,
            ha="left",
            colour=style.ink(colour),
        )
    _facts(page, widget)
    _named(page, widget, position)
    return page.fig


def _cells(grid):
    for row in range(grid.shape[0]):
        for column in range(grid.shape[1]):
            yield (row, column), int(grid[row, column])


def _facts(page: Sheet, widget) -> None:
    mma, lane = widget.mma, widget.lane
    page.text(0.25, 0.32, f"mma.sync.{mma.shape}.{mma.accumulator}.{mma.dtype}", bold=True, mono=True, ha="left")
    page.text(0.25, 0.6, f"lane {lane} holds", ha="left", colour=style.MUTED, size=style.FINE)
    for column, operand in enumerate("abc"):
        held = [(name, places) for name, places in widget.holds.items() if name[0] == operand]
        for line, (name, places) in enumerate(held):
            page.text(
                0.25 + 1.38 * column,
                FACTS + LINE * line,
                f"{name} {_places(operand.upper(), places)}",
                mono=True,
                size=style.FINE,
                ha="left",
            )


def _named(page: Sheet, widget, position) -> None:
    """Label the rows with the lanes that give their addresses to ldmatrix; the chosen lane's row has a dashed frame."""
    lane, each = widget.lane, widget.mma.per_register("A")
    for operand in "AB":
        load = widget.load(operand)
        if load is None:
            continue
        tags: dict[int, list[int]] = {}
        for n, row in enumerate(load.rows):
            tags.setdefault(row, []).append(n)
        upright = operand == "B" and not load.transposed
        for row, lanes in tags.items():
            words = "@" + ", ".join(map(str, lanes))
            if upright:
                x, y, width = position("B", 0, row)
                for place, named in enumerate(lanes[:2] if width > 0.22 else ()):
                    height = y - 0.11 - 0.17 * (min(len(lanes), 2) - 1 - place)
                    words = f"{'@' * (place == 0)}{named}"
                    page.text(x + width / 2, height, words, size=style.FINE, colour=style.MUTED)
            elif operand == "A" or row % each == 0:
                x, y, _ = position(operand, row if operand == "A" else row // each, 0)
                words = words if operand == "A" else f"@{row}, {row + 1}"
                page.text(x - 0.05, y + ROW / 2, words, size=style.FINE, ha="right", colour=style.MUTED)
        if lane >= len(load.rows):
            continue
        row, chunk = load.rows[lane], load.chunks[lane]
        look = {"fill": "none", "edge": style.INK, "dashed": True, "lw": 1.2, "radius": 0.03, "z": 6}
        if upright:
            x, y, width = position("B", 4 * chunk, row)
            page.box(x, y, width, 4 * ROW, **look)
        elif operand == "A":
            x, y, width = position("A", row, 4 * chunk)
            page.box(x, y, 4 * width, ROW, **look)
        else:
            x, y, width = position("B", row // each, 0)
            page.box(x, y, 8 * width, ROW, **look)  # the registers that hold this row
    if widget.load("A"):
        most = max(sum(name[0] == operand for name in widget.holds) for operand in "abc")
        for line, words in enumerate(("@: lanes that name this row to ldmatrix;", f"dashed: what lane {lane} names")):
            y = FACTS + LINE * (most + line) + 0.1
            page.text(0.25, y, words, size=style.FINE, ha="left", colour=style.MUTED)
