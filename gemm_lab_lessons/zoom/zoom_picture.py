"""The zoom's still picture: the level that the widget shows, the levels outside it, and the source line of the step."""

from __future__ import annotations

from gemm_lab.plots import style
from gemm_lab.plots.sheet import Sheet
from gemm_lab.plots.style import Card
from gemm_lab_lessons.zoom.zoom_still_matrices import block_level, dram_level, warp_level
from gemm_lab_lessons.zoom.zoom_still_memory import bank_level, bits_level, fragment_level
from gemm_lab_lessons.zoom.zoom_still_parts import Area, wrapped
from gemm_lab_lessons.zoom.zoom_text import LEVELS, TITLES

LEFT, WIDE, HIGH = 0.25, 7.5, 3.55
SOURCE_ROWS, ROW, MOST_CODE = 3, 0.2, 86  # lines of the source around that of the step; characters of one
LIT = "#FBF3B8"
DRAW = dict(zip(LEVELS, (dram_level, block_level, warp_level, fragment_level, bank_level, bits_level), strict=True))


def picture(widget) -> Card:
    """The picture of the widget's current step at its level.

    Of the other levels, only the names of those outside it are shown: a notebook that opens at a level has taught them.
    """
    lines = wrapped(widget.sentence, 104)[:2]
    top = 0.84 + 0.22 * len(lines)  # of what is below the box with the sentence
    area = Area(LEFT, top + 0.5, WIDE, HIGH)
    page = Sheet(area.y + HIGH + 0.62 + ROW * SOURCE_ROWS)
    page.box(0.22, 0.2, 7.56, top - 0.32, fill="#F4F5F7", edge="#F4F5F7")
    page.box(0.22, 0.2, 0.05, top - 0.32, fill=style.BLUE, edge=style.BLUE, radius=0)
    page.text(0.42, 0.4, f"{widget.title}, block {widget.block}", bold=True, ha="left")
    for row, words in enumerate(lines):
        page.text(0.42, 0.66 + 0.22 * row, words, ha="left", size=style.FINE)
    _levels(page, widget.level, top)
    why = widget.scene["why"].get(widget.level)
    if why:
        for row, words in enumerate(wrapped(why, 92)):
            page.text(LEFT + 0.2, area.y + 0.4 + 0.24 * row, words, ha="left", size=style.SMALL)
    else:
        DRAW[widget.level](page, area, widget)
    _source(page, widget, area.y + HIGH + 0.14)
    page.text(0.25, page.height - 0.2, "In a running notebook, this picture moves.", ha="left", size=style.FINE,
              colour=style.MUTED)  # fmt: skip
    return page.fig


def _levels(page: Sheet, level: str, y: float) -> None:
    """The names of the levels, from the matrices to the current one, which is marked."""
    x, known = LEFT, LEVELS[: LEVELS.index(level) + 1]
    for name in known:
        now = name == level
        text = page.text(x + 0.1, y + 0.13, TITLES[name], ha="left", size=style.FINE, bold=now,
                         colour=style.PAPER if now else style.INK)  # fmt: skip
        wide = text.get_window_extent(page.fig.canvas.get_renderer()).width / style.SHOWN_DPI + 0.2
        fill = style.BLUE if now else "#F4F5F7"
        page.box(x, y, wide, 0.27, fill=fill, edge=fill if now else style.CARD_EDGE, radius=0.04)
        x += wide
        if not now:
            page.text(x + 0.1, y + 0.13, "›", size=style.SMALL, colour=style.MUTED)
            x += 0.2


def _source(page: Sheet, widget, y: float) -> None:
    """The source lines around that of the step, which is marked."""
    lines, at = widget.scene["lines"], widget.scene["events"]["line"][widget.step]
    if at < 0 or not lines:
        return
    first = min(max(at - SOURCE_ROWS // 2, 0), max(len(lines) - SOURCE_ROWS, 0))
    shown = lines[first : first + SOURCE_ROWS]
    page.box(LEFT, y, WIDE, ROW * len(shown) + 0.08, fill="#F4F5F7", edge="none", radius=0.04, z=1)
    for row, (number, text, own) in enumerate(shown):
        line, now = y + 0.04 + ROW * row, first + row == at
        if now:
            page.box(LEFT, line, WIDE, ROW, fill=LIT, edge="none", radius=0)
        text = text if len(text) <= MOST_CODE else text[: MOST_CODE - 1] + "…"
        page.text(
            LEFT + 0.38,
            line + ROW / 2,
            "▶" * own + str(number),
            mono=True,
            size=style.FINE,
            ha="right",
            colour=style.MUTED,
        )
        page.text(LEFT + 0.5, line + ROW / 2, text, mono=True, size=style.FINE, ha="left")
